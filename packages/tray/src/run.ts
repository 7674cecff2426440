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
  const single = new SingleInstance(paths.run);
  if (!(await single.acquire())) return print('The tray icon is shown already.');
  try {
    const cache = cacheFolder(platform, env);
    const program = await prepareTrayProgram(cache, platform, arch);
    if (platform === 'linux') {
      const libraryPath = await trayLibraryPath(program.file, cache, env.LD_LIBRARY_PATH);
      if (libraryPath !== undefined) env.LD_LIBRARY_PATH = libraryPath;
    }
    return await untilQuit(options, menu, paths, program.dir);
  } finally {
    await single.release();
  }
}

async function untilQuit(options: TrayOptions, menu: MenuOptions, paths: HomePaths, programDir: string): Promise<number> {
  const client = new AmbientClient(paths.controlSocket);
  const template = process.platform === 'darwin';
  const icons = path.join(ICONS, template ? 'template' : (options.theme ?? (await panelTheme())));
  let quit: (error?: AmbientError) => void = () => {};
  const ended = new Promise<AmbientError | undefined>((resolve) => {
    quit = resolve;
  });
  const driver = new TrayDriver({ icons, template, programDir, onClick: (item) => app.click(item), onExit: (error) => quit(error) });
  const startDaemon = options.ambientctl === null ? null : [...ambientctlCommand(options.ambientctl), 'daemon', 'start'];
  const app = new TrayApp({ client, menu, perform: { client, platform: process.platform, startDaemon }, onQuit: () => quit() }, driver);
  const stopped = new AbortController();
  const onSignal = (): void => {
    stopped.abort();
    quit();
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, onSignal);
  try {
    if (process.platform === 'linux') await untilPanel(stopped.signal);
    if (stopped.signal.aborted) return 0;
    await app.start();
    const error = await ended;
    if (error !== undefined) throw error;
    return 0;
  } finally {
    await app.stop();
  }
}

function cacheFolder(platform: string, env: NodeJS.ProcessEnv): string {
  const home = env.HOME ?? '/';
  if (platform === 'darwin') return path.join(home, 'Library/Caches/Ambient/tray');
  return path.join(env.XDG_CACHE_HOME || path.join(home, '.cache'), 'ambient/tray');
}
