import { chmod, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';

const SEPARATOR = '\u001f';

export interface Answer {
  readonly code?: number;
  readonly stdout?: string;
  readonly stderr?: string;
  /** Shell commands to run first. */
  readonly run?: string;
}

/** Programs of other systems, played by shell scripts on PATH that write down how they were called. */
export class StandIns {
  readonly bin: string;
  readonly #dir: string;
  #count = 0;

  constructor(dir: string) {
    this.#dir = dir;
    this.bin = path.join(dir, 'bin');
  }

  /** PATH with the stand-ins before the system's own programs. */
  get path(): string {
    return `${this.bin}:/usr/bin:/bin`;
  }

  async add(...names: readonly string[]): Promise<void> {
    await mkdir(this.bin, { recursive: true });
    for (const name of names) {
      // Builtins only: these run hundreds of times.
      const script = `#!/bin/sh
line='${name}'
verb=default
for argument in "$@"; do
  line="$line${SEPARATOR}$argument"
  case "$argument" in -*) ;; *) [ "$verb" != default ] || verb="$argument" ;; esac
done
printf '%s\\n' "$line" >> '${this.#dir}/calls'
for answer in '${this.#dir}/answers/${name}'."\${verb##*/}"/* '${this.#dir}/answers/${name}'.any/*; do
  [ -e "$answer" ] || continue
  case "$answer" in */z) . "$answer" ;; *) mv "$answer" '${this.#dir}/current' && . '${this.#dir}/current' ;; esac
done
exit 0
`;
      await writeFile(path.join(this.bin, name), script);
      await chmod(path.join(this.bin, name), 0o755);
    }
  }

  /** The next answer to `name verb …`, after those given earlier; `any` answers to every verb that has none of its own. */
  async once(name: string, verb: string, answer: Answer): Promise<void> {
    this.#count += 1;
    await this.#write(name, verb, `a${String(this.#count).padStart(4, '0')}`, answer);
  }

  /** The answer to `name verb …` whenever no other is due. */
  async always(name: string, verb: string, answer: Answer): Promise<void> {
    await this.#write(name, verb, 'z', answer);
  }

  async #write(name: string, verb: string, file: string, { code = 0, stdout = '', stderr = '', run = '' }: Answer): Promise<void> {
    const dir = path.join(this.#dir, 'answers', `${name}.${path.basename(verb)}`);
    await mkdir(dir, { recursive: true });
    const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
    await writeFile(path.join(dir, file), `${run}\nprintf '%s' ${quoted(stdout)}\nprintf '%s' ${quoted(stderr)} >&2\nexit ${code}\n`);
  }

  /** How the stand-ins were called since the last look: program and arguments, in order. */
  async calls(): Promise<string[][]> {
    const file = path.join(this.#dir, 'calls');
    try {
      const text = await readFile(file, 'utf8');
      await rm(file);
      return text
        .split('\n')
        .slice(0, -1)
        .map((line) => line.split(SEPARATOR));
    } catch {
      return [];
    }
  }
}
