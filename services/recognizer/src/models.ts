import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { AmbientError } from '@ambient/contract';
import type { ModelFiles } from './protocol.js';
import { llamaTokens } from './tokens.js';

const require = createRequire(import.meta.url);

interface PinnedFile {
  /** Package and path inside it. */
  readonly package: string;
  readonly file: string;
  readonly bytes: number;
  readonly sha256: string;
}

interface CatalogEntry {
  readonly encoder: PinnedFile;
  readonly mergedDecoder: PinnedFile;
  readonly language: string;
}

const moonshine = (size: string, part: string, bytes: number, sha256: string): PinnedFile => ({
  package: '@usefulsensors/moonshine-js',
  file: `dist/model/${size}/quantized/${part}.onnx`,
  bytes,
  sha256,
});

/** Models that come with the installation: nothing is downloaded. */
const BUNDLED: Readonly<Record<string, CatalogEntry>> = {
  'moonshine-base': {
    encoder: moonshine('base', 'encoder_model', 20_513_063, '1dd9ab0a7f987113d30affcba5a068d11c8f90fa0223caa3e491ade431ad9751'),
    mergedDecoder: moonshine(
      'base',
      'decoder_model_merged',
      42_498_870,
      'cc9f3cd6698a369c6008b41aa60aa3fb3322e7f03c9bdf19d8e6b7200afca4f3',
    ),
    language: 'en',
  },
  'moonshine-tiny': {
    encoder: moonshine('tiny', 'encoder_model', 7_937_661, 'c6fc4b7bc5af75c0591fd157a1f3829b533d18e9769a888fd95a62e470dd4f4a'),
    mergedDecoder: moonshine(
      'tiny',
      'decoder_model_merged',
      20_243_286,
      'eed87831c3a6103534aae7d47a5d485025c659a1323901513961c39fe8a1a367',
    ),
    language: 'en',
  },
};

const SILERO_V5: PinnedFile = {
  package: '@ricky0123/vad-web',
  file: 'dist/silero_vad_v5.onnx',
  bytes: 2_327_524,
  sha256: '2623a2953f6ff3d2c1e61740c6cdb7168133479b267dfef114a4a3cc5bdd788f',
};

const REINSTALL = 'Install the packages again with `npm run setup`.';

/**
 * Finds and checks the files of a bundled model: present, of the right size, of the right content. The native library
 * ends the process on files it cannot read, so nothing unchecked reaches it.
 * @param cacheDir folder for the generated token table
 * @throws AmbientError `bad_model`
 */
export async function resolveModel(name: string, cacheDir: string): Promise<ModelFiles> {
  const entry = BUNDLED[name];
  if (entry === undefined)
    throw new AmbientError(
      'bad_model',
      `There is no model ${name}.`,
      `Choose one of ${Object.keys(BUNDLED).join(', ')} with \`ambientctl config transcription.model\`.`,
    );
  const [encoder, mergedDecoder, vad, tokens] = await Promise.all([
    checked(entry.encoder),
    checked(entry.mergedDecoder),
    checked(SILERO_V5),
    tokenTable(cacheDir),
  ]);
  return { name, encoder, mergedDecoder, vad, tokens, language: entry.language };
}

async function checked(pinned: PinnedFile): Promise<string> {
  const file = path.join(packageDir(pinned.package), pinned.file);
  await checkFile(file, pinned.bytes, pinned.sha256);
  return file;
}

/** @throws AmbientError `bad_model` that says what is wrong with the file */
export async function checkFile(file: string, bytes: number, sha256: string): Promise<void> {
  const name = path.basename(file);
  const size = await stat(file).then(
    (info) => info.size,
    () => undefined,
  );
  if (size === undefined) throw new AmbientError('bad_model', `The model file ${name} is missing.`, REINSTALL);
  if (size !== bytes) throw new AmbientError('bad_model', `The model file ${name} has ${size} bytes instead of ${bytes}.`, REINSTALL);
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  if (hash.digest('hex') !== sha256) throw new AmbientError('bad_model', `The model file ${name} is damaged.`, REINSTALL);
}

/** Folder of an installed package, wherever the package manager put it. */
function packageDir(name: string): string {
  for (const base of require.resolve.paths(name) ?? []) {
    try {
      return path.dirname(require.resolve(path.join(base, name, 'package.json')));
    } catch {
      // Not in this one.
    }
  }
  throw new AmbientError('bad_model', `The package ${name} that holds the model is not installed.`, REINSTALL);
}

/** The token table that sherpa-onnx wants beside Moonshine, made from the tokenizer's vocabulary once per content. */
async function tokenTable(cacheDir: string): Promise<string> {
  const table = await llamaTokens();
  const file = path.join(cacheDir, `moonshine-tokens-${createHash('sha256').update(table).digest('hex').slice(0, 12)}.txt`);
  const present = await readFile(file, 'utf8').catch(() => undefined);
  if (present === table) return file;
  await mkdir(cacheDir, { recursive: true, mode: 0o700 });
  const draft = `${file}.${process.pid}.tmp`;
  await writeFile(draft, table, { mode: 0o600 });
  await rename(draft, file);
  return file;
}
