import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { AmbientClient, localPaths } from '@ambient/client';
import { AmbientError, type HomePaths } from '@ambient/contract';
import { TrayApp } from './app.js';
import { TrayDriver } from './driver.js';
import type { MenuOptions } from './menu.js';
import { parseTrayOptions, type TrayOptions, USAGE } from './options.js';
import { prepareTrayProgram, trayLibraryPath } from './program.js';
import { SingleInstance } from './single.js';
import { renderSwiftBar } from './swiftbar.js';
import { pluginMenu } from './swiftbar-plugin.js';
import { panelTheme } from './theme.js';
import { untilPanel } from './watcher.js';

const ICONS = fileURLToPath(new URL('../icons/', import.meta.url));

/** Runs ambient-tray until it is told to quit. @returns the exit code. @throws AmbientError with what to do next */
export async function run(args: readonly string[]): Promise<number> {
  const options = parseTrayOptions(args);
  if (options.help) return print(USAGE);
  if (options.version) return print(createRequire(import.meta.url)('../package.json').version);
  const paths = localPaths();
  const menu: MenuOptions = { sessionsDir: paths.sessions, canStartDaemon: options.ambientctl !== null, uid: process.getuid?.() ?? 0 };
  if (options.swiftbar) return printPlugin(options, menu);
  // systray2 looks for its program in the working directory first; nothing of the user's may lie there.
  process.chdir('/');
  return showTray(options, menu, paths);
}

function print(text: string): number {
  process.stdout.write(`${text}\n`);
  return 0;
}

function ambientctlCommand(script: string): readonly string[] {
  return [process.execPath, script];
}

async function printPlugin({ ambientctl }: TrayOptions, menu: MenuOptions): Promise<number> {
  const command = ambientctl === null ? ['ambientctl'] : ambientctlCommand(ambientctl);
  const model = await pluginMenu(command, { ...menu, canStartDaemon: true });
  const image = (await readFile(path.join(ICONS, 'template', `${model.icon}.png`))).toString('base64');
  process.stdout.write(renderSwiftBar(model, { ambientctl: command, image }));
  return 0;
}

async function showTray(options: TrayOptions, menu: MenuOptions, paths: HomePaths): Promise<number> {
  const { platform, env, arch } = process;
  if (platform === 'linux' && !env.DISPLAY && !env.WAYLAND_DISPLAY)
    throw new AmbientError(
      'unavailable',
      'There is no desktop to show an icon on: DISPLAY is not set.',
      'Start ambient-tray in a desktop session.',
    );
  const end = new End();
  const single = new SingleInstance(paths.run, () => end.quit());
  if (!(await single.acquire())) return print('The tray icon is shown already.');
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => end.quit());
  try {
    const cache = cacheFolder(platform, env);
    const program = await prepareTrayProgram(cache, platform, arch);
    if (platform === 'linux') {
      const libraryPath = await trayLibraryPath(program.file, cache, env.LD_LIBRARY_PATH);
      if (libraryPath !== undefined) env.LD_LIBRARY_PATH = libraryPath;
      await untilPanel(end.signal);
    }
    if (!end.signal.aborted) await untilEnd(options, menu, paths, program.dir, end);
    return 0;
  } finally {
    await single.release();
  }
}

/** The end of the tray: asked for, or forced by an error. */
class End {
  readonly #abort = new AbortController();
  #error: AmbientError | undefined;

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  quit(error?: AmbientError): void {
    this.#error ??= error;
    this.#abort.abort();
  }

  /** @throws AmbientError when it was forced */
  async reached(): Promise<void> {
    if (!this.signal.aborted) await once(this.signal, 'abort');
    if (this.#error !== undefined) throw this.#error;
  }
}

async function untilEnd(options: TrayOptions, menu: MenuOptions, paths: HomePaths, programDir: string, end: End): Promise<void> {
  const client = new AmbientClient(paths.controlSocket);
  const template = process.platform === 'darwin';
  const icons = path.join(ICONS, template ? 'template' : (options.theme ?? (await panelTheme())));
  const driver = new TrayDriver({ icons, template, programDir, onClick: (item) => app.click(item), onExit: (error) => end.quit(error) });
  const startDaemon = options.ambientctl === null ? null : [...ambientctlCommand(options.ambientctl), 'daemon', 'start'];
  const app = new TrayApp({ client, menu, perform: { client, platform: process.platform, startDaemon }, onQuit: () => end.quit() }, driver);
  try {
    await app.start();
    await end.reached();
  } finally {
    await app.stop();
  }
}

function cacheFolder(platform: string, env: NodeJS.ProcessEnv): string {
  const home = env.HOME ?? '/';
  if (platform === 'darwin') return path.join(home, 'Library/Caches/Ambient/tray');
  return path.join(env.XDG_CACHE_HOME || path.join(home, '.cache'), 'ambient/tray');
}
