import { AmbientError } from '@ambient/contract';
import { CommanderError } from 'commander';
import { toJson } from './output/json.js';
import { type TextStream, viewOf } from './output/printer.js';
import { plain, plainDocument, wrap } from './output/text.js';

/** The command line is wrong in a way that only the verb can see: exit 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
  readonly hint: string;

  constructor(message: string, hint: string) {
    super(message);
    this.hint = hint;
  }
}

/** A failure that was already reported in the verb's own result: only the exit code is left to set. */
export class ReportedFailure extends Error {
  override readonly name = 'ReportedFailure';
}

interface Report {
  readonly exitCode: 0 | 1 | 2;
  readonly code: string;
  readonly message: string;
  readonly hint?: string | undefined;
  /** More for people, after the one line: usage. */
  readonly extra?: string | undefined;
}

/** What to say about an error, and the exit code. `written` is what commander wrote to stderr. */
export function explain(error: unknown, written: string): Report {
  if (error instanceof CommanderError) return explainUsage(error, written);
  if (error instanceof UsageError) return { exitCode: 2, code: 'bad_request', message: error.message, hint: error.hint };
  if (error instanceof AmbientError) return { exitCode: 1, code: error.code, message: error.message, hint: error.hint };
  const { code, message } = error as NodeJS.ErrnoException;
  return {
    exitCode: 1,
    code: 'internal',
    message: code === undefined ? `Fault of ambientctl: ${message}` : message,
    hint: code === undefined ? 'Please report it, with the command that you ran.' : 'See `ambientctl doctor`.',
  };
}

function explainUsage(error: CommanderError, written: string): Report {
  if (error.exitCode === 0) return { exitCode: 0, code: error.code, message: '' };
  if (error.code === 'commander.help')
    return { exitCode: 2, code: 'bad_request', message: 'A verb is missing.', hint: 'See the list below.', extra: written };
  const [first = '', ...rest] = error.message.replace(/^error: /, '').split('\n');
  const usage = /^Usage: .*$/m.exec(written)?.[0];
  const verb = /^Usage: ([^[<]*)/.exec(usage ?? '')?.[1]?.trim() ?? 'ambientctl';
  const suggestion = /\(Did you mean (.*)\?\)/s.exec(rest.join('\n'))?.[1];
  return {
    exitCode: 2,
    code: 'bad_request',
    message: sentence(first),
    hint: suggestion === undefined ? `See \`${verb} --help\`.` : `Did you mean ${suggestion}?`,
    extra: usage,
  };
}

function sentence(text: string): string {
  return ended(text.charAt(0).toUpperCase() + text.slice(1));
}

function ended(text: string): string {
  return /[.?!]$/.test(text) ? text : `${text}.`;
}

/** Writes a report to stderr: one line (and usage) for people, or one JSON object. */
export function printReport(report: Report, json: boolean, stderr: TextStream, env: Readonly<Record<string, string | undefined>>): void {
  if (report.exitCode === 0) return;
  const { code, message, hint, extra } = report;
  if (json) {
    stderr.write(`${toJson({ code, message, ...(hint === undefined ? {} : { hint }) })}\n`);
    return;
  }
  const { width, paint } = viewOf(stderr, env);
  const [first = '', ...rest] = wrap(plain(`ambientctl: ${hint === undefined ? message : `${ended(message)} ${hint}`}`), width);
  stderr.write(`${[first.replace(/^ambientctl:/, (name) => paint('red', name)), ...rest].join('\n')}\n`);
  if (extra !== undefined) stderr.write(`${plainDocument(extra).trimEnd()}\n`);
}
