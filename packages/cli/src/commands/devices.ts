import type { Command } from 'commander';
import type { CliContext } from '../context.js';
import { examples } from '../help.js';
import { table } from '../output/table.js';
import { plain } from '../output/text.js';

export function register(program: Command, context: CliContext): void {
  examples(
    program.command('devices').description('list microphones, system audio and recording programs'),
    ['ambientctl devices', 'see what can be recorded'],
    ['ambientctl start --device ID', 'record one of them'],
    ['ambientctl config audio.device ID', 'make it the one to use'],
  ).action(() => devices(context));
}

async function devices(context: CliContext): Promise<void> {
  const client = await context.connect();
  const list = await client.call('devices', {});
  context.out.result(list, ({ width, paint }) => {
    const rows = list.devices.map(({ kind, id, name, default: standard }) => [
      kind === 'mic' ? 'room' : 'call',
      plain(id),
      plain(name),
      standard ? 'default' : '',
    ]);
    const found = list.recorders.filter(({ path }) => path !== null).map(({ name }) => name);
    const missing = list.recorders.filter(({ path }) => path === null).map(({ name }) => name);
    return [
      rows.length === 0
        ? 'No audio device is found. `ambientctl doctor` says why.'
        : table(
            [{ title: 'Track' }, { title: 'Id', flexible: true }, { title: 'Name', flexible: true }, { title: '' }],
            rows,
            width,
            paint,
          ),
      '',
      `Recorders: ${found.length === 0 ? 'none' : found.join(', ')}${missing.length === 0 ? '' : ` (not found: ${missing.join(', ')})`}`,
    ].join('\n');
  });
}
