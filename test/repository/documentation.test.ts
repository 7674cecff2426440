import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { type CliContext, createProgram } from '@ambient/cli';
import { describe, expect, test } from 'vitest';

type Command = ReturnType<typeof createProgram>;

const root = path.resolve(import.meta.dirname, '../..');
const TASK_PAGES = ['recording', 'searching', 'importing', 'sessions-on-disk', 'configuration', 'troubleshooting', 'privacy-and-security'];

const pages = [
  'README.md',
  'CHANGELOG.md',
  'THIRD_PARTY_NOTICES.md',
  'tools/fixtures/README.md',
  ...readdirSync(path.join(root, 'docs'), { recursive: true, encoding: 'utf8' }).flatMap((name) =>
    name.endsWith('.md') ? [path.join('docs', name)] : [],
  ),
];

const read = (page: string): string => readFileSync(path.join(root, page), 'utf8');

/** Every ambientctl command line of a page: in its `sh` blocks, and in its text between backquotes. */
function commandLines(page: string): string[] {
  const blocks = [...read(page).matchAll(/^```sh\n([\s\S]*?)^```/gm)].map((match) => match[1] ?? '');
  const inText = [
    ...read(page)
      .replace(/^```[\s\S]*?^```/gm, '')
      .matchAll(/`([^`\n]+)`/g),
  ].map((match) => match[1] ?? '');
  return [...blocks.flatMap((block) => block.split('\n')), ...inText].filter((line) => /^(?:npx )?ambientctl(?: |$)/.test(line));
}

/** The words of a simple command line: quotes group, a comment ends it. */
function words(line: string): string[] {
  const parts = line.replace(/\s+#.*$/, '').match(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g) ?? [];
  return parts.map((part) =>
    part.replace(/"([^"]*)"|'([^']*)'/g, (_, double: string | undefined, single: string | undefined) => double ?? single ?? ''),
  );
}

/** Parses a command line as ambientctl does, and does nothing. @throws CommanderError for a wrong one */
async function parse(line: string): Promise<void> {
  const argv = words(line).slice(line.startsWith('npx ') ? 2 : 1);
  const silent = { view: { width: 80, paint: (_: string, text: string) => text } };
  const context = { stdout: {}, out: silent } as unknown as CliContext;
  const program = createProgram(context, { writeOut: () => undefined, writeErr: () => undefined });
  disarm(program);
  if (argv.length > 0) await program.parseAsync(argv, { from: 'user' });
}

function disarm(command: Command): void {
  for (const child of command.commands) {
    if (child.commands.length === 0) child.action(() => undefined);
    disarm(child);
  }
}

describe('documentation', () => {
  test.each(pages.filter((page) => commandLines(page).length > 0))('every ambientctl command in %s parses', async (page) => {
    for (const line of commandLines(page)) await expect(parse(line), line).resolves.toBeUndefined();
  });

  test('a command that ambientctl does not know is noticed', async () => {
    await expect(parse('ambientctl serach budget')).rejects.toThrow();
    await expect(parse('ambientctl search budget --sicne 7d')).rejects.toThrow();
  });

  test.each(pages)('every relative link in %s leads somewhere', (page) => {
    const links = [...read(page).matchAll(/\]\((?!https?:)([^)#]+)(?:#[^)]*)?\)/g)].map((match) => match[1] ?? '');
    const broken = links.filter((link) => !existsSync(path.resolve(root, path.dirname(page), link)));
    expect(broken).toEqual([]);
  });

  test.each(TASK_PAGES)('docs/%s.md says what happens when it fails', (name) => {
    expect(read(`docs/${name}.md`)).toMatch(/^## When it fails$/m);
  });
});
