import { existsSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ambientctl, runHere, temporaryHome } from './support/ambientctl.js';

let home: string;
let remove: () => void;
beforeEach(() => {
  ({ home, remove } = temporaryHome());
});
afterEach(() => remove());

describe('a wrong command line', () => {
  const wrong: [string[], RegExp][] = [
    [['sesions'], /Did you mean sessions\?/],
    [['daemon', 'strat'], /Did you mean .*start.*\?/],
    [['sessions', '--lmit'], /Unknown option '--lmit'/],
    [['start', '--no-mics'], /Did you mean --no-mic\?/],
    [['daemon'], /Usage: ambientctl daemon/],
    [['show'], /Missing required argument 'session'/],
    [['show', ''], /empty/],
    [['mcp', 'conect'], /Unknown command 'conect'\. Did you mean connect\?/],
    [['mcp', 'revok', 'cursor'], /Unknown command 'revok'\. Did you mean revoke\?/],
    [['mcp', 'status', 'cursor'], /Too many arguments for 'status'/],
    [['approvals', 'foo'], /Unknown command 'foo'/],
    [['help', 'nope'], /Unknown command 'nope'/],
    [['help', 'mcp', 'conect'], /Unknown command 'conect'\. Did you mean connect\?/],
    [['show', 'last', 'extra'], /[Tt]oo many arguments/],
    [['mute', 'kitchen'], /Allowed choices are room, call/],
    [['start', '--pace', 'slow'], /Allowed choices are real, fast/],
    [['start', '--seconds', 'soon'], /Expected a time such as/],
    [['start', '--no-mic', '--no-system'], /nothing to record/],
    [['start', '--pace', 'fast'], /--pace fast is for files/],
    [['start', '--no-mic', '--room-file', 'a.wav'], /--no-mic leaves the room track out/],
    [['start', '--no-system', '--call-file', 'a.wav'], /--no-system leaves the call track out/],
    [['start', '--seconds', '5', '--seconds', '6'], /Option '--seconds <time>' was given twice/],
    [['start', '--pace', 'fast', '--pace', 'real'], /Option '--pace <pace>' was given twice/],
    [['strike', '--from', '1', '--from', '2', '--to', '3'], /Option '--from <time>' was given twice/],
    [['search', ''], /The search text is empty/],
    [['search', 'x', '--since', 'today', '--until', 'yesterday'], /--since lies after --until/],
    [['search', 'x', '--since', '1d', '--until', '2d'], /--since lies after --until/],
    [['import', ''], /empty/],
    [['tag', 'last', '#'], /The tag is empty/],
    [['strike'], /which stretch/],
    [['strike', '--last', '5m', '--from', '1:00'], /not both/],
    [['strike', '--from', '2:00', '--to', '1:00'], /ends before it begins/],
    [['search'], /Missing required argument 'query'/],
    [['search', 'x', '--limit', '0'], /whole number from 1 to 200/],
    [['search', 'x', '--since', '2026-02-30'], /Expected a date/],
    [['speaker', 'last', 'Priya'], /--track or --segments/],
    [['speaker', 'last', '--track', 'call'], /Give a name, or --clear/],
    [['config', 'audio.devise'], /Did you mean audio\.device\?/],
    [['config', '--unset'], /needs a setting/],
    [['export', 'last', '--format', 'pdf'], /Allowed choices are markdown, text, json/],
    [['rename', 'last', 'x'.repeat(201)], /^ambientctl: The name is 201 characters long; it may have at most 200\. Shorten it\.$/m],
    [['rename', 'last', 'two\nlines'], /The name holds a line break/],
    [['tag', 'last', 'ok', 'x'.repeat(65)], /The tag is 65 characters long; it may have at most 64\. Shorten it\./],
    [['speaker', 'last', 'x'.repeat(101), '--track', 'call'], /The speaker is 101 characters long; it may have at most 100/],
    [['start', '--name', 'x'.repeat(201)], /The name is 201 characters long/],
    [['start', '--device=-n'], /begins with "-" or "\|".*ambientctl devices/],
    [['start', '--device', '|ls'], /begins with "-"/],
    [['start', '--seconds', '8d'], /The number of seconds is 691200; it may be at most 604800/],
    [['import', 'a.wav', '--name', 'x'.repeat(201)], /The name is 201 characters long/],
    [['search', 'x'.repeat(100_000)], /The search text is 100000 characters long; it may have at most 1000/],
    [['import'], /Missing required argument 'file'/],
  ];

  const named = wrong.map(([args, expected]) => [args.join(' ').slice(0, 40), args, expected] as const);
  it.each(named)('%j exits 2 with the next step, and starts no daemon', async (_name, args, expected) => {
    const { code, stdout, stderr } = await runHere(home, args);
    expect(stderr).toMatch(expected);
    expect(stderr).toMatch(/^ambientctl: /);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(existsSync(path.join(home, 'run'))).toBe(false);
  });

  it.each([
    ['--json', 'sesions'],
    ['sesions', '--json'],
    ['strike', '--json'],
  ])('is one JSON object on stderr with --json: %s %s', async (...args) => {
    const { code, stdout, stderr } = await runHere(home, args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(JSON.parse(stderr)).toEqual({ code: 'bad_request', message: expect.any(String), hint: expect.any(String) });
  });

  it('is --json with another format on stdout', async () => {
    const { code, stdout, stderr } = await runHere(home, ['export', 'last', '--json', '--out', '-', '--format', 'text']);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain('--json wants JSON on stdout, and --out - writes text there.');
  });

  it('sets the exit code of the process', async () => {
    const { code, stdout, stderr } = await ambientctl(home, ['sesions']);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toBe("ambientctl: Unknown command 'sesions'. Did you mean sessions?\nUsage: ambientctl [--json] <verb> [options]\n");
  });

  it('names a relative AMBIENT_HOME and what to do', async () => {
    const { code, stderr } = await runHere('somewhere', ['sessions']);
    expect(code).toBe(1);
    expect(stderr).toMatch(/AMBIENT_HOME is not an absolute path: somewhere\. Set AMBIENT_HOME/);
  });
});

describe('help', () => {
  it('is the same by the verb and by the option', async () => {
    for (const words of [[], ['mcp'], ['mcp', 'token', 'create']])
      expect((await runHere(home, ['help', ...words])).stdout).toBe((await runHere(home, [...words, '--help'])).stdout);
  });

  const verbs =
    'start stop pause resume mute strike status follow sessions show search import export rename tag speaker delete devices config doctor'.split(
      ' ',
    );
  const inGroups = ['daemon run', 'daemon start', 'daemon stop', 'daemon status', 'daemon logs', 'library rebuild', 'approvals approve'];

  it.each([...verbs, ...inGroups])('of `%s` has examples and --json', async (verb) => {
    const { code, stdout, stderr } = await runHere(home, [...verb.split(' '), '--help']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/Examples:\n {2}\S+/);
    expect(stdout).toContain('--json');
  });

  it('lists every verb', async () => {
    const { stdout } = await runHere(home, ['--help']);
    for (const verb of [...verbs, 'daemon', 'library', 'approvals']) expect(stdout).toMatch(new RegExp(`^ {2}${verb}\\b`, 'm'));
    expect(stdout).not.toContain('overview');
  });
});
