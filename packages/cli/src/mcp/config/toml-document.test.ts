import { parse } from '@decimalturn/toml-patch';
import { describe, expect, it } from 'vitest';
import { TomlDocument } from './toml-document.js';

const PATH = ['mcp_servers', 'ambient'];
const ENTRY = { command: '/n', args: ['/ambient-mcp.js', '--profile', 'p1'], startup_timeout_sec: 20 };
const put = (text: string, entry: Record<string, unknown> = ENTRY): string => TomlDocument.parse('c.toml', text).put(PATH, entry);
const remove = (text: string): string => TomlDocument.parse('c.toml', text).remove(PATH);
const TABLE = '[mcp_servers.ambient]\ncommand = "/n"\nargs = ["/ambient-mcp.js", "--profile", "p1"]\nstartup_timeout_sec = 20\n';

const CONFIG = `# my settings
model = "o4"   # aligned
note = """
[mcp_servers.ambient]
command = "not a table" """
day = 2026-11-30

[mcp_servers.docs]
command = 'npx'
args = [
  "-y", # yes
  "docs",
]

# about the terminal
[tui]
notifications = true`;

describe('adding an entry to TOML', () => {
  it('appends a table and touches nothing before it', () => {
    expect(put(`${CONFIG}\n`)).toBe(`${CONFIG}\n\n${TABLE}`);
    expect(put(CONFIG)).toBe(`${CONFIG}\n\n${TABLE.trimEnd()}`);
    expect(put('')).toBe(TABLE);
  });

  it('keeps Windows line ends', () => {
    const result = put('a = 1\r\n');
    expect(result).toBe(`a = 1\r\n\r\n${TABLE.replaceAll('\n', '\r\n')}`);
  });

  it('changes only the values that differ in a table that is there', () => {
    const text = `[mcp_servers.ambient] # ours\ncommand = "/old" # where\nargs = [\n  "x", # old\n]\n# a note\n\n# about x\n[x]\ny = 1\n`;
    expect(put(text)).toBe(
      `[mcp_servers.ambient] # ours\ncommand = "/n" # where\nargs = ["/ambient-mcp.js", "--profile", "p1"]\nstartup_timeout_sec = 20\n# a note\n\n# about x\n[x]\ny = 1\n`,
    );
    expect(put(put(text))).toBe(put(text));
  });

  it('finds a quoted header and a variable in a table of its own', () => {
    const text = '["mcp_servers" . \'ambient\']\ncommand = "/old"\n\n[mcp_servers.ambient.env]\nFOO = "1" # mine\nAMBIENT_HOME = "/a"\n';
    const result = put(text, { command: '/n', env: { FOO: '1', AMBIENT_HOME: '/b' } });
    expect(result).toBe(text.replace('/old', '/n').replace('/a', '/b'));
  });

  it('goes into inline tables too', () => {
    const result = put('mcp_servers = { docs = { command = "x" } } # c\n');
    expect(parse(result)).toEqual({ mcp_servers: { docs: { command: 'x' }, ambient: ENTRY } });
    expect(result).toContain('# c');
  });
});

describe('taking an entry out of TOML', () => {
  it('leaves the rest byte for byte', () => {
    for (const text of [`${CONFIG}\n`, CONFIG, 'a = 1\r\n']) expect(remove(put(text)).trimEnd()).toBe(text.trimEnd());
    expect(remove(put(`${CONFIG}\n`))).toBe(`${CONFIG}\n`);
  });

  it('leaves the comment of the next table with that table', () => {
    const text = `[a]\nb = 1\n\n${TABLE}\n[mcp_servers.ambient.env]\nX = "1"\n\n# about c\n[c]\nd = 1\n`;
    expect(remove(text)).toBe('[a]\nb = 1\n\n# about c\n[c]\nd = 1\n');
  });
});

describe('a TOML file that cannot be edited', () => {
  it.each([
    ['a = 1\nb = \n', 'c.toml:2:'],
    ['a = 1\na = 2\n', 'c.toml:2:1:'],
    ['[x\n', 'c.toml:'],
  ])('%j is refused with the position', (text, message) => {
    expect(() => TomlDocument.parse('c.toml', text)).toThrow(message);
  });

  it('is refused when an edit would lose a comment or cannot be made', () => {
    expect(() => put('mcp_servers = 1\n')).toThrow('cannot be edited safely');
  });
});
