import { spawn } from 'node:child_process';
import { chmod, copyFile, mkdir, readFile, rename, rm, stat, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { AmbientError } from '@ambient/contract';

const require = createRequire(import.meta.url);

interface PreparedProgram {
  /** Folder that systray2 takes its program from. */
  readonly dir: string;
  readonly file: string;
}

/**
 * Copies the tray program out of its npm package, where it is neither executable nor always writable.
 * @param cache folder of our own for it
 * @throws AmbientError `missing_tool` where there is no program for this machine
 */
export async function prepareTrayProgram(cache: string, platform: string, arch: string): Promise<PreparedProgram> {
  const name = { darwin: 'tray_darwin_release', linux: 'tray_linux_release' }[platform];
  if (name === undefined || (platform === 'linux' && arch !== 'x64'))
    throw new AmbientError(
      'missing_tool',
      `There is no tray program for ${platform} on ${arch}.`,
      'Use `ambientctl status`, or a status bar that runs `ambient-tray --swiftbar`.',
    );
  const manifest = require.resolve('systray2/package.json');
  const { version }: { version: string } = require('systray2/package.json');
  const source = path.join(path.dirname(manifest), 'traybin', name);
  const file = path.join(cache, version, name);
  if (!(await sameContent(source, file))) {
    await mkdir(path.dirname(file), { recursive: true });
    const fresh = `${file}.${process.pid}`;
    await copyFile(source, fresh);
    await chmod(fresh, 0o755);
    await rename(fresh, file);
  }
  return { dir: cache, file };
}

async function sameContent(source: string, copy: string): Promise<boolean> {
  try {
    const info = await stat(copy);
    return (info.mode & 0o100) !== 0 && (await readFile(source)).equals(await readFile(copy));
  } catch {
    return false;
  }
}

const WANTED = 'libappindicator3.so.1';
const SUCCESSOR = 'libayatana-appindicator3.so.1';

export interface LibraryTools {
  /** Libraries that the program would not find, with this LD_LIBRARY_PATH. */
  readonly missing: (program: string, libraryPath: string | undefined) => Promise<readonly string[]>;
  /** Absolute path of a library of the system, by its soname. */
  readonly find: (soname: string) => Promise<string | undefined>;
  /** Name of the package that has the successor, and the command that installs it. */
  readonly installCommand: () => Promise<string>;
}

/**
 * LD_LIBRARY_PATH under which the tray program finds its libraries, or undefined when it needs none. The program asks
 * for libappindicator3; distributions now ship its successor, which has the same interface under another name.
 * @throws AmbientError `missing_tool` with the package to install
 */
export async function trayLibraryPath(
  program: string,
  cache: string,
  current: string | undefined,
  tools: LibraryTools = systemLibraries,
): Promise<string | undefined> {
  let missing = await tools.missing(program, current);
  if (missing.length === 0) return current;
  let libraryPath = current;
  if (missing.includes(WANTED)) {
    const successor = await tools.find(SUCCESSOR);
    if (successor !== undefined) {
      const dir = path.join(cache, 'lib');
      await mkdir(dir, { recursive: true });
      await rm(path.join(dir, WANTED), { force: true });
      await symlink(successor, path.join(dir, WANTED));
      libraryPath = current === undefined || current === '' ? dir : `${dir}:${current}`;
      missing = await tools.missing(program, libraryPath);
    }
  }
  if (missing.length === 0) return libraryPath;
  throw new AmbientError(
    'missing_tool',
    `The tray icon needs ${missing.join(' and ')}, which ${missing.length === 1 ? 'is' : 'are'} not installed.`,
    `Install it: ${await tools.installCommand()}`,
  );
}

export const systemLibraries: LibraryTools = {
  async missing(program, libraryPath) {
    // What ldd does: the loader lists what it would load, and runs nothing.
    const output = await capture(program, [], {
      LD_TRACE_LOADED_OBJECTS: '1',
      ...(libraryPath === undefined ? {} : { LD_LIBRARY_PATH: libraryPath }),
    });
    return [...output.matchAll(/^\s*(\S+) => not found$/gm)].map(([, name]) => name ?? '');
  },
  async find(soname) {
    const listed = await capture('ldconfig', ['-p'], { PATH: `${process.env.PATH ?? ''}:/usr/sbin:/sbin` }).catch(() => '');
    for (const [, name, file] of listed.matchAll(/^\s*(\S+) \([^)]*x86-64[^)]*\) => (\S+)$/gm)) if (name === soname) return file;
    for (const dir of ['/usr/lib/x86_64-linux-gnu', '/usr/lib64', '/usr/lib']) {
      const file = path.join(dir, soname);
      if (
        await stat(file).then(
          () => true,
          () => false,
        )
      )
        return file;
    }
    return undefined;
  },
  async installCommand() {
    const release = await readFile('/etc/os-release', 'utf8').catch(() => '');
    return installCommandFor(release);
  },
};

/** @param release content of /etc/os-release */
export function installCommandFor(release: string): string {
  const ids = [...release.matchAll(/^ID(?:_LIKE)?="?([^"\n]*)"?$/gm)].flatMap(([, names]) => (names ?? '').split(' '));
  if (ids.some((id) => id === 'debian' || id === 'ubuntu')) return 'sudo apt install libayatana-appindicator3-1';
  if (ids.some((id) => id === 'fedora' || id === 'rhel')) return 'sudo dnf install libayatana-appindicator-gtk3';
  if (ids.includes('arch')) return 'sudo pacman -S libayatana-appindicator';
  if (ids.some((id) => id === 'suse' || id === 'opensuse')) return 'sudo zypper install libayatana-appindicator3-1';
  return 'the package with libayatana-appindicator3 (GTK 3)';
}

function capture(command: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, [...args], { env, stdio: ['ignore', 'pipe', 'ignore'] });
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
    child.once('error', reject);
    child.once('close', () => resolve(output));
  });
}
