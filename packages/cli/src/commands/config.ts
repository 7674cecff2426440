import { AmbientError, CONFIG_KEYS, ConfigSchema } from '@ambient/contract';
import type { Command } from 'commander';
import { suggest } from '../args/suggest.js';
import type { CliContext } from '../context.js';
import { UsageError } from '../errors.js';
import { examples } from '../help.js';
import { fields, table } from '../output/table.js';
import { plain } from '../output/text.js';

const CONFIG_HELP = 'See `ambientctl config --help`.';

export function register(program: Command, context: CliContext): void {
  examples(
    program
      .command('config')
      .description('show or change settings')
      .argument('[key]', 'a setting')
      .argument('[value]', 'its new value')
      .option('--unset', 'go back to the default'),
    ['ambientctl config', 'every setting, its value and where it comes from'],
    ['ambientctl config audio_retention_days', 'one value'],
    ['ambientctl config audio_retention_days forever', 'change it'],
    ['ambientctl config audio.device --unset', 'back to the default'],
  ).action(async (key: string | undefined, value: string | undefined, { unset = false }: { unset?: boolean }) => {
    if (key === undefined) {
      if (unset) throw new UsageError('--unset needs a setting.', 'For example `ambientctl config audio.device --unset`.');
      return showAll(context);
    }
    checkKey(key);
    if (unset && value !== undefined) throw new UsageError('Give a value or --unset, not both.', CONFIG_HELP);
    return value === undefined && !unset ? showOne(context, key) : change(context, key, unset ? null : (value ?? null));
  });
}

function checkKey(key: string): void {
  if ((CONFIG_KEYS as readonly string[]).includes(key)) return;
  const meant = suggest(key, CONFIG_KEYS);
  throw new UsageError(
    `There is no setting '${key}'.`,
    meant === undefined ? 'Run `ambientctl config` for the list.' : `Did you mean ${meant}?`,
  );
}

async function settings(context: CliContext) {
  const client = await context.connect();
  const reply = await client.call('config', {});
  for (const warning of reply.warnings) context.out.note(`Warning: ${plain(warning)}`);
  return reply;
}

async function showAll(context: CliContext): Promise<void> {
  const reply = await settings(context);
  context.out.result(reply, ({ width, paint }) =>
    table(
      [{ title: 'Setting' }, { title: 'Value', flexible: true }, { title: 'From' }, { title: 'Meaning', flexible: true }],
      reply.settings.map(({ key, value, source, description }) => [plain(key), shown(value), source, plain(description)]),
      width,
      paint,
    ),
  );
}

async function showOne(context: CliContext, key: string): Promise<void> {
  const reply = await settings(context);
  const setting = reply.settings.find((entry) => entry.key === key);
  if (setting === undefined) throw new UsageError(`The daemon does not know '${key}'.`, 'Restart it: `ambientctl daemon stop`.');
  const { value, source, description } = setting;
  context.out.result({ key, value, source, description }, ({ width, paint }) =>
    fields(
      [
        ['Value', shown(value)],
        ['From', source],
        ['Default', shown(defaultOf(key))],
        ['Meaning', plain(description)],
      ],
      width,
      paint,
    ),
  );
}

/** A value that does not fit was typed wrong, as a setting that does not exist is. */
function asUsage(error: unknown): never {
  if (error instanceof AmbientError && error.code === 'bad_request') throw new UsageError(error.message, error.hint ?? CONFIG_HELP);
  throw error;
}

function defaultOf(key: string): unknown {
  return (ConfigSchema.parse({}) as Record<string, unknown>)[key];
}

async function change(context: CliContext, key: string, value: string | null): Promise<void> {
  const client = await context.connect();
  const reply = await client.call('setConfig', { body: { key, value } }).catch(asUsage);
  context.out.result(reply, () => `${key} is now ${shown(reply.value)}${value === null ? ' (the default)' : ''}.`);
}

function shown(value: unknown): string {
  return plain(typeof value === 'string' ? value : (JSON.stringify(value) ?? ''));
}
