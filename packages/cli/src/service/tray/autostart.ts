import { spawn } from 'node:child_process';
import { access, chmod } from 'node:fs/promises';
import { connect } from 'node:net';
import path from 'node:path';
import { AmbientError } from '@ambient/contract';
import { build } from 'plist';
import type { Run } from '../exec.js';
import { readText, removeFile, writeIfChanged } from '../files.js';
import type { ServiceHost } from '../host.js';
import { Launchctl, type LaunchctlOptions } from '../launchd/launchctl.js';
import { renderDesktopEntry } from './desktop-entry.js';
import { type TrayPrograms, trayPrograms } from './layout.js';
import { pluginFolders, renderPlugin } from './plugin.js';

export const TRAY_LABEL = 'io.ambient.tray';

export interface TrayReport {
  readonly changed: boolean;
  readonly files: readonly string[];
  /** Why the icon is not shown before the next login. */
  readonly not_shown?: 'no_display';
}

/** Runs the tray at login: by an autostart entry on Linux, by a launch agent on macOS. */
export class TrayAutostart {
  readonly #host: ServiceHost;
  readonly #run: Run;
  readonly #programs: TrayPrograms;
  readonly #launchctl: Launchctl;

  constructor(host: ServiceHost, run: Run, options: LaunchctlOptions & { readonly programs?: TrayPrograms } = {}) {
    this.#host = host;
    this.#run = run;
    this.#programs = options.programs ?? trayPrograms(host.node);
    this.#launchctl = new Launchctl(run, host.uid, TRAY_LABEL, options);
  }

  /** Autostart, and the tray itself at once where there is a desktop. @throws AmbientError */
  async install(): Promise<TrayReport> {
    const { platform, env } = this.#host;
    const file = this.#file();
    if (platform === 'darwin') {
      const changed = await writeIfChanged(file, this.#agent());
      const loaded = await this.#launchctl.print();
      if (loaded !== null && changed) await this.#launchctl.bootout();
      if (loaded === null || changed) await this.#launchctl.bootstrap(file);
      return { changed: changed || loaded === null, files: [file] };
    }
    const changed = await writeIfChanged(file, renderDesktopEntry(this.#programs, this.#host.paths.home));
    // A tray that is there already ends at once by itself.
    const hasDisplay = Boolean(env.DISPLAY || env.WAYLAND_DISPLAY);
    if (hasDisplay) this.#launch();
    return { changed, files: [file], ...(hasDisplay ? {} : { not_shown: 'no_display' }) };
  }

  /** @returns what was removed; the running tray is ended */
  async uninstall(): Promise<TrayReport> {
    const file = this.#file();
    const there = (await readText(file)) !== undefined;
    if (this.#host.platform === 'darwin') {
      if ((await this.#launchctl.print()) !== null) await this.#launchctl.bootout();
    } else await quitTray(path.join(this.#host.paths.run, 'tray.sock'));
    await removeFile(file);
    const plugins = await this.#installedPlugins();
    for (const plugin of plugins) await removeFile(plugin);
    return { changed: there || plugins.length > 0, files: [...(there ? [file] : []), ...plugins] };
  }

  /** Writes the plugin into the folders of SwiftBar and xbar that are there. @throws AmbientError `missing_tool` without one */
  async installPlugin(): Promise<TrayReport> {
    const files: string[] = [];
    let changed = false;
    for (const folder of await pluginFolders(this.#run, this.#host.userHome)) {
      if (!(await isThere(folder))) continue;
      const file = path.join(folder, PLUGIN_NAME);
      changed = (await writeIfChanged(file, renderPlugin(this.#programs, this.#host.paths.home), 0o755)) || changed;
      await chmod(file, 0o755);
      files.push(file);
    }
    if (files.length === 0)
      throw new AmbientError(
        'missing_tool',
        'Neither SwiftBar nor xbar was found.',
        'Install one (`brew install swiftbar`) and open it once.',
      );
    return { changed, files };
  }

  #file(): string {
    const { platform, env, userHome } = this.#host;
    if (platform === 'darwin') return path.join(userHome, 'Library/LaunchAgents', `${TRAY_LABEL}.plist`);
    if (platform !== 'linux') throw new AmbientError('unavailable', `The tray does not run on ${platform}.`, 'Use `ambientctl status`.');
    const config = env.XDG_CONFIG_HOME;
    return path.join(
      config !== undefined && path.isAbsolute(config) ? config : path.join(userHome, '.config'),
      'autostart/ambient-tray.desktop',
    );
  }

  /** No bundle: the tray records nothing and needs no permission. */
  #agent(): string {
    const { node, tray, ambientctl } = this.#programs;
    const log = path.join(this.#host.paths.logs, 'tray.log');
    return `${build({
      Label: TRAY_LABEL,
      ProgramArguments: [node, tray, '--ambientctl', ambientctl],
      EnvironmentVariables: { AMBIENT_HOME: this.#host.paths.home, PATH: this.#host.path },
      RunAtLoad: true,
      KeepAlive: { SuccessfulExit: false },
      ThrottleInterval: 60,
      ProcessType: 'Interactive',
      StandardOutPath: log,
      StandardErrorPath: log,
      WorkingDirectory: '/',
    })}\n`;
  }

  #launch(): void {
    const { node, tray, ambientctl } = this.#programs;
    const env = { ...this.#host.env, AMBIENT_HOME: this.#host.paths.home };
    const child = spawn(node, [tray, '--ambientctl', ambientctl], { env, detached: true, stdio: 'ignore' });
    child.on('error', () => {});
    child.unref();
  }

  async #installedPlugins(): Promise<string[]> {
    if (this.#host.platform !== 'darwin') return [];
    const files = (await pluginFolders(this.#run, this.#host.userHome)).map((folder) => path.join(folder, PLUGIN_NAME));
    const there = await Promise.all(files.map(isThere));
    return files.filter((_, i) => there[i]);
  }
}

/** The name says how often it is run. */
const PLUGIN_NAME = 'ambient.5s.sh';

function isThere(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}

/** Asks a running tray to quit; resolves when it has, or when there was none. */
function quitTray(socketPath: string): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect(socketPath, () => socket.end('quit\n'));
    socket.setTimeout(3_000, () => socket.destroy());
    socket.on('error', () => {});
    socket.once('close', () => resolve());
    socket.resume();
  });
}
