import type { Command } from 'commander';
import type { CliContext } from '../../context.js';
import { examples, group } from '../../help.js';
import { plain } from '../../output/text.js';
import { runner } from '../exec.js';
import { serviceHost } from '../host.js';
import { TrayAutostart, type TrayReport } from './autostart.js';

/** Adds `tray install|uninstall`. */
export function register(program: Command, context: CliContext): void {
  const tray = group(program, 'tray', 'show what is recorded in the system tray');
  examples(
    tray
      .command('install')
      .description('show the tray icon at login, and now')
      .option('--swiftbar', 'macOS: as a plugin of SwiftBar or xbar instead'),
    ['ambientctl tray install', 'an icon with a menu'],
    ['ambientctl tray install --swiftbar', 'the same menu in SwiftBar'],
  ).action((options: { swiftbar?: boolean }) => install(context, options.swiftbar === true));
  examples(tray.command('uninstall').description('no longer show the tray icon'), [
    'ambientctl tray uninstall',
    'ends it, and removes its entry',
  ]).action(() => uninstall(context));
}

function autostart(context: CliContext): TrayAutostart {
  return new TrayAutostart(serviceHost({ env: context.env }), runner({ ...context.env }));
}

async function install(context: CliContext, swiftbar: boolean): Promise<void> {
  const report = await (swiftbar ? autostart(context).installPlugin() : autostart(context).install());
  context.out.result(report, () => plain(installed(report)));
}

function installed({ changed, files, not_shown }: TrayReport): string {
  const later = 'not now, because there is no display (neither DISPLAY nor WAYLAND_DISPLAY is set).';
  if (not_shown !== undefined)
    return changed
      ? `The tray icon will be shown at the next login (${files.join(', ')}); ${later}`
      : `The tray icon is installed and up to date. It is shown at the next login; ${later}`;
  return changed ? `The tray icon is shown from now on (${files.join(', ')}).` : 'The tray icon is installed and up to date.';
}

async function uninstall(context: CliContext): Promise<void> {
  const report = await autostart(context).uninstall();
  context.out.result(report, () => (report.changed ? plain(`Removed ${report.files.join(', ')}.`) : 'The tray icon was not installed.'));
}
