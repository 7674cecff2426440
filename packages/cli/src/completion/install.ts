import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { AmbientError } from '@ambient/contract';
import writeFileAtomic from 'write-file-atomic';
import { SCRIPTS, type Shell } from './scripts.js';

type Env = Readonly<Record<string, string | undefined>>;

export interface InstalledFile {
  readonly file: string;
  /** What is left to do by hand. */
  readonly note: string | null;
}

/** Where each shell looks for a user's completions, and man for a user's pages. @throws AmbientError `bad_config` without HOME */
export function installPlaces(env: Env): Readonly<Record<Shell | 'man', InstalledFile>> {
  const home = env.HOME;
  if (home === undefined || !path.isAbsolute(home))
    throw new AmbientError('bad_config', 'HOME is not set to an absolute path.', 'Set HOME to your home folder.');
  const data = absolute(env.XDG_DATA_HOME) ?? path.join(home, '.local/share');
  const config = absolute(env.XDG_CONFIG_HOME) ?? path.join(home, '.config');
  const zsh = path.join(data, 'zsh/site-functions');
  return {
    bash: {
      file: path.join(data, 'bash-completion/completions/ambientctl'),
      note: 'bash loads it by itself where bash-completion is installed.',
    },
    zsh: { file: path.join(zsh, '_ambientctl'), note: `Put \`fpath=(${zsh} $fpath)\` before \`compinit\` in ~/.zshrc.` },
    fish: { file: path.join(config, 'fish/completions/ambientctl.fish'), note: null },
    man: { file: path.join(data, 'man/man1/ambientctl.1'), note: null },
  };
}

function absolute(dir: string | undefined): string | undefined {
  return dir !== undefined && path.isAbsolute(dir) ? dir : undefined;
}

/** Writes the completions of the given shells and the man page. */
export async function installCompletions(env: Env, shells: readonly Shell[], manPage: string): Promise<InstalledFile[]> {
  const places = installPlaces(env);
  const written: InstalledFile[] = [];
  for (const what of [...shells, 'man'] as const) {
    const place = places[what];
    await mkdir(path.dirname(place.file), { recursive: true });
    await writeFileAtomic(place.file, what === 'man' ? manPage : SCRIPTS[what]);
    written.push(place);
  }
  return written;
}
