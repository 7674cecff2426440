import { AmbientError } from '@ambient/contract';
import { type Command, Option } from 'commander';
import type { CliContext } from '../context.js';
import { ensureDaemon } from '../daemon/launch.js';
import { stopDaemon } from '../daemon/stop.js';
import { examples, group } from '../help.js';
import { plain } from '../output/text.js';
import { serviceHost } from './host.js';
import { installedService } from './installed.js';
import { serviceManager } from './manager.js';
import { runningDaemon } from './running-daemon.js';
import type { InstallOptions, InstallReport, ServiceManager, ServiceState } from './types.js';

/** The service of the home that this run of ambientctl works on. */
function contextService(context: CliContext): ServiceManager {
  return serviceManager(serviceHost({ env: context.env }));
}

/** Adds `daemon install|uninstall|restart`. */
export function register(program: Command, context: CliContext): void {
  const daemon = group(program, 'daemon', 'run, start and stop the background daemon');
  examples(
    daemon
      .command('install')
      .description('start the daemon at login, and now; run again after an upgrade')
      .addOption(new Option('--launch <method>', 'macOS: how the application is started').choices(['direct', 'open']))
      .option('--identity <name>', 'macOS: signing identity; `-` signs ad hoc')
      .option('--no-ask', 'macOS: do not bring up the permission questions now'),
    ['ambientctl daemon install', 'a launch agent on macOS, a systemd user unit on Linux'],
    ['ambientctl daemon install --launch open', 'macOS: when the microphone stays silent with the default'],
  ).action((options: InstallOptions) => install(context, options));
  examples(daemon.command('uninstall').description('no longer start the daemon at login, and stop it; sessions stay'), [
    'ambientctl daemon uninstall',
    'does nothing when it is not installed',
  ]).action(() => uninstall(context));
  examples(
    daemon
      .command('restart')
      .description('stop the daemon and start it again')
      .option('--force', 'end a running recording; it is finished and kept'),
    ['ambientctl daemon restart', 'refused while something is recorded'],
  ).action((options: { force?: boolean }) => restart(context, options.force === true));
}

async function install(context: CliContext, options: InstallOptions): Promise<void> {
  const service = contextService(context);
  const report = await service.install(options);
  const state = await service.state();
  context.out.result({ ...report, service: state }, () => describe(report, state));
}

function describe({ changed, written, notes }: InstallReport, state: ServiceState): string {
  return [
    ...written.map((file) => `Wrote ${file}.`),
    ...notes,
    changed ? `The daemon starts at login. ${state.detail}` : 'The service is installed and up to date.',
    state.status === 'failed' && state.hint !== undefined ? state.hint : '',
  ]
    .filter((line) => line !== '')
    .map(plain)
    .join('\n');
}

async function uninstall(context: CliContext): Promise<void> {
  const removed = await contextService(context).uninstall();
  context.out.result({ removed }, () =>
    removed ? 'The service is removed. Sessions, settings and models stay where they are.' : 'The service was not installed.',
  );
}

async function restart(context: CliContext, force: boolean): Promise<void> {
  const daemon = await runningDaemon(context.paths.controlSocket).look();
  if (daemon !== null && daemon.recording !== null && !force)
    throw new AmbientError(
      'conflict',
      `Recording ${daemon.recording} is running, and a restart would end it.`,
      'Run `ambientctl stop` first, or add --force: what was recorded is kept.',
    );
  const service = await installedService(context.env);
  if (service !== undefined) await service.restart();
  else {
    await stopDaemon({ client: context.client, home: context.paths.home, note: (text) => context.out.note(text) });
    await ensureDaemon(context);
  }
  const { pid } = await context.client.call('status', {});
  context.out.result({ pid, service: service !== undefined }, () => `The daemon was restarted (pid ${pid}).`);
}
