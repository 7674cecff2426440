import { spawn } from 'node:child_process';
import type { Command } from 'commander';
import type { CliContext } from '../context.js';
import { holderOf, silentText } from '../daemon/holder.js';
import { ensureDaemon } from '../daemon/launch.js';
import { stopDaemon } from '../daemon/stop.js';
import { ReportedFailure } from '../errors.js';
import { examples, group } from '../help.js';
import { fields } from '../output/table.js';
import { plain } from '../output/text.js';
import { localMinute } from '../output/time.js';
import { stopInstalledService } from '../service/installed.js';

const NOT_RUNNING = { running: false, pid: null } as const;

export function register(program: Command, context: CliContext): void {
  const daemon = group(program, 'daemon', 'run, start and stop the background daemon');
  examples(
    daemon.command('run').description('run the daemon in the foreground until Ctrl-C'),
    ['ambientctl daemon run', 'watch the daemon work'],
    ['AMBIENT_HOME=/tmp/try ambientctl daemon run', 'try it in a folder of its own'],
  ).action(() => runInForeground(context));
  examples(daemon.command('start').description('start the daemon in the background'), [
    'ambientctl daemon start',
    'does nothing when it runs already',
  ]).action(() => start(context));
  examples(daemon.command('stop').description('stop the daemon; a recording is finished first'), [
    'ambientctl daemon stop',
    'returns when it is gone',
  ]).action(() => stop(context));
  examples(
    daemon.command('status').description('say whether the daemon runs; exit 1 when it does not'),
    ['ambientctl daemon status', 'pid, version and home'],
    ['ambientctl daemon status --json', 'an object with `running` and `pid`'],
  ).action(() => status(context));
}

async function runInForeground({ daemon, env, out }: CliContext): Promise<void> {
  // Its own process group: a terminal's Ctrl-C then reaches the daemon once, through us, and not twice.
  const child = spawn(daemon.command, [...daemon.args], {
    detached: true,
    stdio: ['ignore', out.json ? 2 : 'inherit', 'inherit'],
    env: { ...env },
  });
  let asked = false;
  const forward = (signal: NodeJS.Signals): void => {
    asked = true;
    child.kill(signal === 'SIGHUP' ? 'SIGTERM' : signal);
  };
  const signals: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP'];
  for (const signal of signals) process.on(signal, forward);
  try {
    const code = await new Promise<number>((resolve, reject) => {
      child.once('error', reject);
      // Ended by the signal we passed on, before it could end by itself: that was asked for.
      child.once('exit', (exit) => resolve(exit ?? (asked ? 0 : 1)));
    });
    out.result({ exit_code: code }, () => '');
    if (code !== 0) throw new ReportedFailure();
  } finally {
    for (const signal of signals) process.off(signal, forward);
  }
}

async function start(context: CliContext): Promise<void> {
  const { started, status } = await ensureDaemon(context);
  const { pid, version, home } = status;
  context.out.result({ running: true, pid, version, home, started }, () =>
    started ? `The daemon is running (pid ${pid}).` : `The daemon was running already (pid ${pid}).`,
  );
}

async function stop({ client, paths, env, out }: CliContext): Promise<void> {
  const note = (text: string): void => out.note(text);
  const pid = (await stopInstalledService(env, client)) ?? (await stopDaemon({ client, home: paths.home, note }));
  out.result({ running: false, pid: null, stopped: pid }, () =>
    pid === null ? 'The daemon is not running.' : `The daemon (pid ${pid}) has ended.`,
  );
}

async function status({ client, paths, out }: CliContext): Promise<void> {
  if (!(await client.isAlive())) {
    const silent = await holderOf(paths.home);
    if (silent !== undefined) {
      out.result({ running: true, pid: silent, answers: false }, () => silentText(silent));
      throw new ReportedFailure();
    }
    out.result(NOT_RUNNING, () => 'The daemon is not running. Start it with `ambientctl daemon start`.');
    throw new ReportedFailure();
  }
  const { pid, version, home, started_at } = await client.call('status', {});
  out.result({ running: true, pid, version, home, started_at }, ({ width, paint }) =>
    fields(
      [
        ['Daemon', `running, pid ${pid}, version ${version}`],
        ['Since', localMinute(started_at)],
        ['Home', plain(home)],
      ],
      width,
      paint,
    ),
  );
}
