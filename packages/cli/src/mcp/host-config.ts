import { access } from 'node:fs/promises';
import { AmbientError } from '@ambient/contract';
import { suggest } from '../args/suggest.js';
import type { CliContext } from '../context.js';
import { UsageError } from '../errors.js';
import { ConfigFile } from './config/config-file.js';
import { type ConfigDocument, valueAt } from './config/document.js';
import { mergedEntry, profileOf } from './entry.js';
import { type Host, type Launch, type Place, parseDocument } from './hosts/host.js';
import { HOSTS } from './hosts/index.js';

/** @throws UsageError with the names there are */
export function hostNamed(id: string): Host {
  const host = HOSTS.find((candidate) => candidate.id === id);
  if (host !== undefined) return host;
  const ids = HOSTS.map((candidate) => candidate.id);
  const near = suggest(id, ids);
  throw new UsageError(`There is no host called ${id}.`, near === undefined ? `Known hosts: ${ids.join(', ')}.` : `Did you mean ${near}?`);
}

/** A host's configuration as it is on disk now, and our entry in it. */
export class HostConfig {
  readonly host: Host;
  readonly file: ConfigFile;
  readonly #place: Place;
  readonly #document: ConfigDocument;
  readonly #path: readonly string[];

  private constructor(host: Host, place: Place, file: ConfigFile) {
    this.host = host;
    this.file = file;
    this.#place = place;
    this.#document = parseDocument(host, file.path, file.text);
    this.#path = host.path(this.#document.value, place);
  }

  /** @throws AmbientError when the file cannot be edited: then nothing has happened yet */
  static async read(host: Host, context: CliContext): Promise<HostConfig> {
    const home = context.env.HOME;
    if (home === undefined || !home.startsWith('/'))
      throw new AmbientError(
        'bad_config',
        "HOME is not set, so the host's configuration cannot be found.",
        'Set HOME to your home folder.',
      );
    const place: Place = { home, platform: process.platform, env: context.env };
    const candidates = host.files(place);
    let chosen = candidates[0] ?? '';
    for (const candidate of [...candidates].reverse()) if (await exists(candidate)) chosen = candidate;
    return new HostConfig(host, place, await ConfigFile.read(chosen));
  }

  /** The entry called `ambient`, whoever made it. */
  get entry(): unknown {
    return valueAt(this.#document.value, this.#path);
  }

  get launch(): Launch | undefined {
    return this.host.launch(this.entry);
  }

  get profile(): string | undefined {
    return profileOf(this.launch);
  }

  /** The text with our entry in it. */
  withLaunch(launch: Launch): string {
    return this.#document.put(this.#path, mergedEntry(this.host, this.entry, launch, this.#path));
  }

  /**
   * What to write to undo `withLaunch`: the very bytes from before where nothing else has changed since, else the text
   * without our entry. `absent` when the file held nothing else and was not there before.
   */
  async withoutEntry(): Promise<{ readonly bytes: Buffer } | { readonly text: string } | 'absent'> {
    const { launch, file } = this;
    if (launch !== undefined) {
      const backups = await file.backups();
      for (const backup of backups) if (this.#leadsHere(backup.text, launch)) return { bytes: backup.bytes };
      if (backups.length === 0 && this.#leadsHere('', launch)) return 'absent';
    }
    return { text: this.#document.remove(this.#path) };
  }

  /** True when connecting a file with this text gives exactly the present one. */
  #leadsHere(text: string, launch: Launch): boolean {
    try {
      const document = parseDocument(this.host, this.file.path, text);
      const at = this.host.path(document.value, this.#place);
      if (valueAt(document.value, at) !== undefined) return false;
      return document.put(at, this.host.entry(launch, at)) === this.file.text;
    } catch {
      return false;
    }
  }

  /** The entry with the keys that lead to it, as the host's documentation would show it. */
  snippet(launch: Launch): string {
    const blank = parseDocument(this.host, this.file.path, '');
    return blank.put(this.#path, mergedEntry(this.host, this.entry, launch, this.#path)).trimEnd();
  }
}

function exists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}
