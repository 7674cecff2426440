import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { chmod, mkdir, mkdtemp, open, rename, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { AmbientError } from '@ambient/contract';
import { lastLine, type Run } from '../exec.js';
import { readText } from '../files.js';
import type { ServiceHost } from '../host.js';
import { type BuildStamp, EXECUTABLE_NAME, parseInfoPlist, renderEntitlements, renderInfoPlist } from './info-plist.js';
import { readSignature, type Signature, type SignResult, signBundle, verifyBundle } from './signing.js';

/** First four bytes of Mach-O executables: 64-bit little-endian, and universal ones. */
const MACH_O = ['cffaedfe', 'cafebabe', 'cafebabf'];

/** Why a bundle has to be built, in the user's words; undefined when the installed one is good. */
export type Staleness = string | undefined;

/**
 * The application bundle that macOS gives permissions to: a copy of node under a name of our own, with an Info.plist
 * and a signature. A copy, because a grant is tied to the executable that is signed, and node belongs to everyone.
 */
export class AppBundle {
  readonly path: string;
  readonly executable: string;
  readonly #host: ServiceHost;
  readonly #run: Run;

  constructor(host: ServiceHost, run: Run) {
    this.#host = host;
    this.#run = run;
    this.path = path.join(host.userHome, 'Applications', 'Ambient.app');
    this.executable = path.join(this.path, 'Contents/MacOS', EXECUTABLE_NAME);
  }

  async stamp(): Promise<BuildStamp | undefined> {
    const text = await readText(path.join(this.path, 'Contents/Info.plist'));
    return text === undefined ? undefined : parseInfoPlist(text);
  }

  signature(): Promise<Signature | undefined> {
    return readSignature(this.#run, this.path);
  }

  /** Compares the installed bundle with the node and the version of this installation. */
  async staleness(): Promise<Staleness> {
    const stamp = await this.stamp();
    if (stamp === undefined) return 'there is no application bundle';
    if (stamp.nodeVersion !== this.#host.nodeVersion) return `it holds node ${stamp.nodeVersion}, and this is ${this.#host.nodeVersion}`;
    if (stamp.nodeSha256 !== (await sha256(this.#host.node))) return 'node has been replaced since it was built';
    if (renderInfoPlist({ ...stamp, version: this.#host.version, node: this.#host.node }) !== renderInfoPlist(stamp))
      return 'it is of another version';
    const invalid = await verifyBundle(this.#run, this.path);
    return invalid === undefined ? undefined : `its signature is not valid: ${invalid}`;
  }

  /**
   * Builds, signs and verifies the bundle beside the old one and then takes its place.
   * @throws AmbientError `bad_config` when node cannot be copied alone
   */
  async build(identity?: string): Promise<SignResult> {
    const fresh = `${this.path}.new`;
    const entitlements = path.join(await mkdtemp(path.join(os.tmpdir(), 'ambient-sign-')), 'entitlements.plist');
    try {
      await rm(fresh, { recursive: true, force: true });
      await this.#lay(fresh);
      await writeFile(entitlements, renderEntitlements());
      const signature = await signBundle(this.#run, fresh, entitlements, identity);
      const invalid = await verifyBundle(this.#run, fresh);
      if (invalid !== undefined)
        throw new AmbientError('internal', `The new bundle's signature is not valid: ${invalid}`, 'Run `ambientctl daemon install` again.');
      await this.#tryOut(fresh);
      await this.#replaceBy(fresh);
      return signature;
    } finally {
      await rm(path.dirname(entitlements), { recursive: true, force: true });
      await rm(fresh, { recursive: true, force: true });
    }
  }

  /** @returns false when there was none */
  async remove(): Promise<boolean> {
    if ((await this.stamp()) === undefined) return false;
    await rm(this.path, { recursive: true });
    return true;
  }

  async #lay(bundle: string): Promise<void> {
    const { node, nodeVersion, version } = this.#host;
    await requireMachO(node, this.#host.platform);
    const executable = path.join(bundle, 'Contents/MacOS', EXECUTABLE_NAME);
    await mkdir(path.dirname(executable), { recursive: true });
    // Byte by byte, because a clone would bring along extended attributes that codesign refuses.
    await pipeline(createReadStream(node), createWriteStream(executable));
    await chmod(executable, 0o755);
    const stamp: BuildStamp = { version, node, nodeVersion, nodeSha256: await sha256(executable) };
    await writeFile(path.join(bundle, 'Contents/Info.plist'), renderInfoPlist(stamp));
  }

  /** Some builds of node need libraries that lie beside them, and do not start as a copy. */
  async #tryOut(bundle: string): Promise<void> {
    const result = await this.#run(path.join(bundle, 'Contents/MacOS', EXECUTABLE_NAME), ['--version']);
    if (result.code === 0 && result.stdout.trim() === this.#host.nodeVersion) return;
    throw new AmbientError(
      'bad_config',
      `This node (${this.#host.node}) does not run from an application bundle: ${lastLine(result.stderr) || `exit code ${result.code}`}`,
      'Install node from nodejs.org or with nvm or fnm, and run `ambientctl daemon install` with it.',
    );
  }

  async #replaceBy(fresh: string): Promise<void> {
    const old = `${this.path}.old`;
    await rm(old, { recursive: true, force: true });
    try {
      await rename(this.path, old);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
    await rename(fresh, this.path);
    await rm(old, { recursive: true, force: true });
  }
}

/** With anything else as its main executable, a bundle never brings up a permission prompt. */
async function requireMachO(file: string, platform: string): Promise<void> {
  const handle = await open(file);
  try {
    const { buffer } = await handle.read(Buffer.alloc(4), 0, 4, 0);
    const magic = buffer.toString('hex');
    // Tests build bundles elsewhere, around that system's own executable.
    const native = platform === process.platform ? MACH_O : [...MACH_O, '7f454c46'];
    if (!native.includes(magic))
      throw new AmbientError(
        'bad_config',
        `${file} is not a Mach-O executable, so macOS would never ask for the microphone.`,
        'Run `ambientctl daemon install` with a real node, not through a wrapper script.',
      );
  } finally {
    await handle.close();
  }
}

async function sha256(file: string): Promise<string> {
  const hash = createHash('sha256');
  try {
    await pipeline(createReadStream(file), hash);
  } catch {
    return '';
  }
  return hash.digest('hex');
}
