import { readFile } from 'node:fs/promises';
import { CONFIG_KEYS, type Config, type ConfigKey, ConfigSchema, check, configEnvName, faultOf } from '@ambient/contract';
import type { CliContext } from '../context.js';
import type { LocalCheck } from './types.js';

const ID = 'config';
const TITLE = 'Configuration';

/** The settings that a daemon would start with. */
export const checkSettings: LocalCheck = async (context) => {
  const { config: file } = context.paths;
  const { content, problem } = await readSettings(file);
  const inEnv = CONFIG_KEYS.filter((key) => misfits(key, context.env[configEnvName(key)], '').length > 0).map(configEnvName);
  const unfit = CONFIG_KEYS.flatMap((key) => [
    ...misfits(key, content[key], `${key} in ${file}`),
    ...misfits(key, context.env[configEnvName(key)], configEnvName(key)),
  ]);
  const problems = [...(problem === undefined ? [] : [problem]), ...unfit];
  if (problems.length > 0)
    return [check.failure(ID, TITLE, `${problems.join('; ')}.`, remedy(file, problems.length - inEnv.length, inEnv))];
  const unknown = Object.keys(content).filter((key) => !(CONFIG_KEYS as string[]).includes(key));
  if (unknown.length > 0)
    return [check.warning(ID, TITLE, `Settings that nothing reads: ${unknown.join(', ')}.`, `Correct or remove them in ${file}.`)];
  return [check.ok(ID, TITLE, 'Every setting fits.')];
};

/** A setting as the daemon would take it, or its default. */
export async function setting<K extends ConfigKey>({ env, paths }: CliContext, key: K): Promise<Config[K]> {
  const { content } = await readSettings(paths.config);
  const schema = ConfigSchema.shape[key];
  for (const raw of [env[configEnvName(key)], content[key]]) {
    if (raw === undefined) continue;
    for (const value of [raw, spelled(raw)]) {
      const parsed = schema.safeParse(value);
      if (value !== undefined && parsed.success) return parsed.data as Config[K];
    }
  }
  return schema.parse(undefined) as Config[K];
}

async function readSettings(file: string): Promise<{ content: Record<string, unknown>; problem?: string }> {
  try {
    const value: unknown = JSON.parse(await readFile(file, 'utf8'));
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { content: value as Record<string, unknown> };
    return { content: {}, problem: `${file} is not a JSON object` };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return { content: {} };
    return { content: {}, problem: code === undefined ? `${file} is not valid JSON` : `${file} cannot be read: ${message}` };
  }
}

/** @returns one sentence without its end, or none when the value is left out or fits */
function misfits(key: ConfigKey, raw: unknown, where: string): string[] {
  if (raw === undefined) return [];
  const schema = ConfigSchema.shape[key];
  const value = spelled(raw) ?? raw;
  const [issue] = schema.safeParse(value).error?.issues ?? [];
  if (issue === undefined || schema.safeParse(raw).success) return [];
  return [`${where} does not fit: it ${faultOf(issue, value)}`];
}

function remedy(file: string, inFile: number, variables: readonly string[]): string {
  const steps = [
    ...(inFile > 0 ? [`Correct ${file}.`] : []),
    ...(variables.length > 0
      ? [`Unset or correct ${variables.join(', ')} where the daemon is started from, then \`ambientctl daemon restart\`.`]
      : []),
  ];
  return steps.join(' ');
}

/** The environment has only strings: what one spells in JSON. */
function spelled(raw: unknown): unknown {
  if (typeof raw !== 'string') return undefined;
  try {
    return JSON.parse(raw);
  } catch {
    return undefined;
  }
}
