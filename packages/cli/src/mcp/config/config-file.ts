import { constants } from 'node:fs';
import { type FileHandle, lstat, mkdir, open, readdir, readFile, realpath, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { AmbientError } from '@ambient/contract';

const BOM = '\ufeff';
/** Configuration files are small; anything larger is not one. */
const MAX_BYTES = 64 * 1024 * 1024;

/** A host's configuration file: read once, written in one step, with a backup kept beside it. */
export class ConfigFile {
  /** As the host names it. */
  readonly path: string;
  /** Without a byte order mark; empty when there is no file. */
  readonly text: string;
  readonly exists: boolean;
  /** Where the bytes are, behind links. */
  readonly #target: string;
  readonly #bytes: Buffer;
  readonly #mode: number;
  /** The file has another name too, which a new file in its place does not change. */
  readonly isHardLinked: boolean;

  private constructor(file: string, target: string, exists: boolean, bytes: Buffer, mode: number, links = 1) {
    this.path = file;
    this.#target = target;
    this.exists = exists;
    this.#bytes = bytes;
    this.#mode = mode;
    this.isHardLinked = links > 1;
    this.text = bytes.toString('utf8').replace(BOM, '');
  }

  /**
   * A link is followed to a real file of the user's own, which is how dotfile managers keep them.
   * @throws AmbientError `forbidden`, `refused_symlink`, `bad_config`
   */
  static async read(file: string): Promise<ConfigFile> {
    const target = await locate(file);
    let handle: FileHandle;
    try {
      handle = await open(target, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    } catch (error) {
      if (isMissing(error)) return new ConfigFile(file, target, false, Buffer.alloc(0), 0o600);
      throw new AmbientError('forbidden', `${file} cannot be read (${(error as NodeJS.ErrnoException).code}).`, 'Nothing was changed.', {
        cause: error,
      });
    }
    try {
      const { uid, mode, size, nlink, ...kind } = await handle.stat().then((found) => ({ ...found, isFile: found.isFile() }));
      if (!kind.isFile) throw new AmbientError('bad_config', `${file} is not a file.`, 'Move it away, then run the command again.');
      if (uid !== process.getuid?.())
        throw new AmbientError('forbidden', `${file} belongs to another user.`, 'Nothing was changed. Run this as its owner.');
      if (size > MAX_BYTES) throw new AmbientError('bad_config', `${file} is too large for a configuration file.`, 'Nothing was changed.');
      const bytes = await handle.readFile();
      if (!Buffer.from(bytes.toString('utf8')).equals(bytes))
        throw new AmbientError(
          'bad_config',
          `${file} is not UTF-8 text.`,
          'Nothing was changed. Save it as UTF-8, then run the command again.',
        );
      return new ConfigFile(file, target, true, bytes, mode & 0o777, nlink);
    } finally {
      await handle.close();
    }
  }

  /**
   * A file that its owner made read-only is meant to stay as it is, though its folder would let it be replaced.
   * @throws AmbientError `forbidden`
   */
  checkWritable(): void {
    if (this.exists && (this.#mode & 0o200) === 0)
      throw new AmbientError(
        'forbidden',
        `${this.path} is read-only (mode ${this.#mode.toString(8).padStart(4, '0')}).`,
        `Nothing was changed. Run \`chmod u+w '${this.path}'\`, then run the command again.`,
      );
  }

  /**
   * Replaces the text, mode and byte order mark kept, after setting the present bytes aside.
   * @returns the backup's path, or null when there was nothing to keep
   * @throws AmbientError `conflict` when the file changed since it was read, `forbidden` when it is read-only
   */
  async write(text: string): Promise<string | null> {
    return this.writeBytes(Buffer.from((this.#bytes.toString('utf8').startsWith(BOM) ? BOM : '') + text));
  }

  async writeBytes(bytes: Buffer): Promise<string | null> {
    this.checkWritable();
    await mkdir(path.dirname(this.#target), { recursive: true, mode: 0o700 });
    const backup = this.exists ? await this.#backUp() : null;
    const temporary = `${this.#target}.${process.pid}.ambient-new`;
    try {
      await create(temporary, bytes, this.#mode);
      await this.#checkUnchanged();
      await rename(temporary, this.#target);
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    }
    return backup;
  }

  /** Takes away a file that holds nothing but what was put there. */
  async remove(): Promise<string | null> {
    this.checkWritable();
    const backup = await this.#backUp();
    await this.#checkUnchanged();
    await rm(this.#target);
    return backup;
  }

  /** Earlier contents that were set aside, newest first. */
  async backups(): Promise<{ readonly bytes: Buffer; readonly text: string }[]> {
    const prefix = `${path.basename(this.path)}.ambient-backup-`;
    const names = await readdir(path.dirname(this.path)).catch(() => []);
    const found = names.filter((name) => name.startsWith(prefix)).sort();
    const backups = [];
    for (const name of found.reverse()) {
      const file = path.join(path.dirname(this.path), name);
      const info = await lstat(file).catch(() => undefined);
      if (!info?.isFile() || info.uid !== process.getuid?.() || info.size > MAX_BYTES) continue;
      const bytes = await readFile(file);
      backups.push({ bytes, text: bytes.toString('utf8').replace(BOM, '') });
    }
    return backups;
  }

  async #backUp(): Promise<string> {
    const stamp = new Date().toISOString().replace(/\.\d+/, '').replace(/[-:]/g, '');
    for (let n = 1; ; n++) {
      const backup = `${this.path}.ambient-backup-${stamp}${n === 1 ? '' : `-${String(n).padStart(2, '0')}`}`;
      try {
        // A configuration may hold secrets of other servers, and a copy lies about for longer: it is for its owner alone.
        await create(backup, this.#bytes, 0o600);
        return backup;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || n > 98) throw error;
      }
    }
  }

  /** A host that saved its settings meanwhile must not lose them. */
  async #checkUnchanged(): Promise<void> {
    const now = await readFile(this.#target).catch((error: unknown) => {
      if (isMissing(error)) return undefined;
      throw error;
    });
    if (this.exists ? now?.equals(this.#bytes) !== true : now !== undefined)
      throw new AmbientError(
        'conflict',
        `${this.path} was changed by another program just now.`,
        'Nothing was changed. Run the command again.',
      );
  }
}

/** The real file behind `file`, or `file` itself when there is nothing yet. */
async function locate(file: string): Promise<string> {
  const info = await lstat(file).catch((error: unknown) => {
    if (isMissing(error)) return undefined;
    throw new AmbientError('forbidden', `${file} cannot be reached (${(error as NodeJS.ErrnoException).code}).`, 'Nothing was changed.', {
      cause: error,
    });
  });
  if (info?.isSymbolicLink() !== true) return file;
  const refused = (reason: string): AmbientError =>
    new AmbientError(
      'refused_symlink',
      `${file} is a link ${reason}.`,
      'Nothing was changed. Make it a link to a file of yours, or a file.',
    );
  if (info.uid !== process.getuid?.()) throw refused('that belongs to another user');
  const target = await realpath(file).catch(() => {
    throw refused('to nothing');
  });
  const folder = await stat(path.dirname(target));
  if (folder.uid !== process.getuid?.() || (folder.mode & 0o002) !== 0)
    throw refused(`into a folder that is not yours alone: ${path.dirname(target)}`);
  return target;
}

async function create(file: string, bytes: Buffer, mode: number): Promise<void> {
  const handle = await open(file, 'wx', mode);
  try {
    await handle.chmod(mode);
    await handle.writeFile(bytes);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function isMissing(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ENOENT' || code === 'ENOTDIR';
}
