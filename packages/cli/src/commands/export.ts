import path from 'node:path';
import { type Command, Option } from 'commander';
import { nonBlank } from '../args/values.js';
import type { CliContext } from '../context.js';
import { UsageError } from '../errors.js';
import { writeWhole } from '../files.js';
import { examples, SESSION_HELP } from '../help.js';
import { plain, plainDocument } from '../output/text.js';
import { bytes } from '../output/time.js';

interface ExportOptions {
  readonly format?: 'markdown' | 'text' | 'json';
  readonly out?: string;
  readonly force?: boolean;
}

export function register(program: Command, context: CliContext): void {
  examples(
    program
      .command('export')
      .description("write a session's transcript as one document")
      .argument('<session>', SESSION_HELP, nonBlank)
      .addOption(
        new Option('--format <format>', 'what to write (default: markdown; with --json: json)').choices(['markdown', 'text', 'json']),
      )
      .option('--out <file>', 'where to; - or nothing is stdout', nonBlank)
      .option('--force', 'replace the file when it exists'),
    ['ambientctl export last', 'markdown on stdout'],
    ['ambientctl export last --format text --out notes.txt', 'into a file'],
    ['ambientctl export last --format json --out - | jq .', 'into another program'],
  ).action((session: string, options: ExportOptions) => exportSession(context, session, options));
}

async function exportSession(context: CliContext, session: string, options: ExportOptions): Promise<void> {
  const { out, stdout } = context;
  const { out: target, force = false, format = out.json ? 'json' : 'markdown' } = options;
  if (out.json && target === '-' && format !== 'json')
    throw new UsageError(`--json wants JSON on stdout, and --out - writes ${format} there.`, 'Leave --json out, or give --format json.');
  const toStdout = target === undefined || target === '-';
  if (target?.endsWith('/')) throw new UsageError(`${target} names a folder.`, 'Give --out the name of a file in it.');
  if (toStdout && force) throw new UsageError('--force is for a file.', 'Name it with --out.');
  const client = await context.connect();
  const reply = await client.call('export', { params: { session }, query: { format } }, { timeoutMs: 120_000 });
  if (!toStdout) {
    const file = path.resolve(context.cwd, target);
    const content = withEnd(reply.content);
    await writeWhole(file, content, { replace: force });
    const size = Buffer.byteLength(content);
    out.result({ session: reply.session, format, file, bytes: size }, () => plain(`Wrote ${file} (${bytes(size)}).`));
  } else if (out.json && target === undefined) out.value(reply);
  else stdout.write(stdout.isTTY === true ? plainDocument(withEnd(reply.content)) : withEnd(reply.content));
}

function withEnd(content: string): string {
  return content.endsWith('\n') ? content : `${content}\n`;
}
