import { access, constants, stat } from 'node:fs/promises';
import path from 'node:path';
import type { AmbientClient } from '@ambient/client';
import { AmbientError, type ImportStatus, SessionName, type Warning } from '@ambient/contract';
import type { Command } from 'commander';
import { requireFitting } from '../args/fitting.js';
import { collect, nonBlank } from '../args/values.js';
import type { CliContext } from '../context.js';
import { ReportedFailure } from '../errors.js';
import { examples } from '../help.js';
import { importProgress } from '../import-progress.js';
import { watchImports } from '../import-watch.js';
import { interruptible } from '../interrupt.js';
import { plain } from '../output/text.js';

/** Many files are looked at before the reply, ms. */
const IMPORT_PATIENCE_MS = 120_000;

interface ImportOptions {
  readonly name?: string;
  readonly wait?: boolean;
  readonly splitChannels?: boolean;
}

export function register(program: Command, context: CliContext): void {
  examples(
    program
      .command('import')
      .description('transcribe audio or video files, each as a session of its own')
      .argument('<file...>', 'any format that ffmpeg reads', collect)
      .option('--name <name>', 'a name for the session', nonBlank)
      .option('--wait', 'return when the transcripts are complete')
      .option('--split-channels', 'left channel is the room, right channel is the call'),
    ['ambientctl import talk.m4a --wait', 'one file, with a progress bar'],
    ['ambientctl import *.wav', 'many files, in the background'],
    ['ambientctl import call.wav --split-channels', 'a stereo recording of a call'],
    ['ambientctl import -- -odd-name.wav', 'a name that begins with a dash'],
  ).action((files: string[], options: ImportOptions) => importFiles(context, files, options));
}

async function importFiles(context: CliContext, given: readonly string[], options: ImportOptions): Promise<void> {
  if (options.name !== undefined) requireFitting('name', SessionName, options.name);
  const files = given.map((file) => path.resolve(context.cwd, file));
  await checkFiles(files);
  const client = await context.connect();
  const { out } = context;
  const body = { files, split_channels: options.splitChannels ?? false, ...(options.name === undefined ? {} : { name: options.name }) };
  const { imports } = await client.call('import', { body }, { timeoutMs: IMPORT_PATIENCE_MS });
  if (options.wait !== true) {
    out.result(imports, () => imports.map(startedText).join('\n'));
    if (imports.some(({ state }) => state === 'failed')) throw new ReportedFailure();
    return;
  }
  const progress = importProgress(context, imports.length);
  const { value: finished, interrupted } = await interruptible(async (signal) => {
    try {
      return await watchImports(client, imports, { signal, onChange: (now) => progress.update(now) });
    } finally {
      progress.stop();
    }
  });
  const warnings = await warningsOf(client, finished);
  out.result(
    finished.map((item) => ({ ...item, warnings: warnings.get(item.id) ?? [] })),
    () => finished.map(finishedText).join('\n'),
  );
  for (const { id, file } of finished)
    for (const { message, hint } of warnings.get(id) ?? [])
      out.note(plain(`${file}: Warning: ${message}${hint === undefined ? '' : ` ${hint}`}`));
  if (interrupted) out.note('No longer waiting. What is not done goes on in the daemon; `ambientctl status` shows how far it is.');
  if (interrupted || finished.some(({ state }) => state !== 'done')) throw new ReportedFailure();
}

/** What the sessions of imports that are done warn of, by id. One that was deleted since warns of nothing. */
async function warningsOf(client: AmbientClient, imports: readonly ImportStatus[]): Promise<Map<string, readonly Warning[]>> {
  const found = new Map<string, readonly Warning[]>();
  for (const { id, state } of imports) {
    if (state !== 'done') continue;
    const detail = await client.call('session', { params: { session: id } }).catch(() => undefined);
    if (detail?.file) found.set(id, detail.file.warnings);
  }
  return found;
}

/** Looks at every file before anything is started. @throws AmbientError that names each file that will not do */
async function checkFiles(files: readonly string[]): Promise<void> {
  const faults = (await Promise.all(files.map(fileFault))).filter((fault) => fault !== undefined);
  const [first, ...others] = faults;
  if (first === undefined) return;
  const message = [first.message, ...others.map((fault) => fault.message)].join(' ');
  throw new AmbientError(first.code, message, files.length > 1 ? 'Nothing was imported: leave these out and try again.' : first.hint);
}

interface Fault {
  readonly code: 'not_found' | 'bad_audio' | 'forbidden';
  readonly message: string;
  readonly hint: string;
}

async function fileFault(file: string): Promise<Fault | undefined> {
  try {
    const info = await stat(file);
    if (info.isDirectory()) return { code: 'bad_audio', message: `${file} is a folder.`, hint: 'Name the files in it.' };
    if (!info.isFile()) return { code: 'bad_audio', message: `${file} is not a regular file.`, hint: 'Name an audio file.' };
    if (info.size === 0) return { code: 'bad_audio', message: `${file} is empty.`, hint: 'Check where it came from.' };
    await access(file, constants.R_OK);
    return undefined;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR')
      return { code: 'not_found', message: `There is no file ${file}.`, hint: 'Check the name.' };
    return { code: 'forbidden', message: `${file} cannot be read (${code ?? 'unknown reason'}).`, hint: 'Check its permissions.' };
  }
}

function startedText({ id, file, state, error }: ImportStatus): string {
  if (state === 'failed') return plain(`${file}: failed: ${error ?? 'unknown reason'}`);
  return plain(`${file}: ${id}, being transcribed. Read along with \`ambientctl follow ${id}\`.`);
}

function finishedText({ id, file, state, error }: ImportStatus): string {
  if (state === 'failed') return plain(`${file}: failed: ${error ?? 'unknown reason'}`);
  return plain(
    state === 'done'
      ? `${file}: done. Read it with \`ambientctl show ${id}\`.`
      : `${file}: ${id}, ${state}. Read along with \`ambientctl follow ${id}\`.`,
  );
}
