import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ConfigFile } from './config-file.js';

let folder: string;
let file: string;

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'am-'));
  file = path.join(folder, 'mcp.json');
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('writing a configuration file', () => {
  it('keeps the mode and the byte order mark, and sets the old bytes aside for the owner alone', async () => {
    writeFileSync(file, '\ufeff{}');
    chmodSync(file, 0o640);
    const read = await ConfigFile.read(file);
    expect(read.text).toBe('{}');
    const backup = await read.write('{"a":1}');
    expect(readFileSync(file, 'utf8')).toBe('\ufeff{"a":1}');
    expect(statSync(file).mode & 0o777).toBe(0o640);
    expect(backup).toMatch(/mcp\.json\.ambient-backup-\d{8}T\d{6}Z$/);
    expect(readFileSync(backup ?? '', 'utf8')).toBe('\ufeff{}');
    expect(statSync(backup ?? '').mode & 0o777).toBe(0o600);
  });

  it('keeps every backup, also two of one second', async () => {
    writeFileSync(file, '0');
    for (const text of ['1', '2', '3']) await (await ConfigFile.read(file)).write(text);
    expect((await (await ConfigFile.read(file)).backups()).map(({ text }) => text).sort()).toEqual(['0', '1', '2']);
  });

  it('makes a new file, for its owner alone, with its folders', async () => {
    const deep = path.join(folder, 'a', 'b', 'mcp.json');
    expect(await (await ConfigFile.read(deep)).write('{}')).toBeNull();
    expect(statSync(deep).mode & 0o777).toBe(0o600);
  });

  it('writes through a link to a file of the user, and the link stays', async () => {
    mkdirSync(path.join(folder, 'dotfiles'));
    const target = path.join(folder, 'dotfiles', 'real.json');
    writeFileSync(target, '{}');
    symlinkSync('dotfiles/real.json', file);
    await (await ConfigFile.read(file)).write('{"a":1}');
    expect(readFileSync(target, 'utf8')).toBe('{"a":1}');
    expect(readFileSync(file, 'utf8')).toBe('{"a":1}');
    expect(readdirSync(path.join(folder, 'dotfiles'))).toEqual(['real.json']);
  });

  it('loses nothing that a host saves meanwhile', async () => {
    writeFileSync(file, '{}');
    const read = await ConfigFile.read(file);
    writeFileSync(file, '{"saved":true}');
    await expect(read.write('{"a":1}')).rejects.toThrow('changed by another program');
    expect(readFileSync(file, 'utf8')).toBe('{"saved":true}');
    expect(readdirSync(folder).some((name) => name.endsWith('.ambient-new'))).toBe(false);
  });
});

describe('a configuration file that is refused', () => {
  it('is a link to nothing, a folder, or no text', async () => {
    symlinkSync('nowhere', file);
    await expect(ConfigFile.read(file)).rejects.toMatchObject({ code: 'refused_symlink' });
    rmSync(file);
    mkdirSync(file);
    await expect(ConfigFile.read(file)).rejects.toMatchObject({ code: 'bad_config' });
    rmSync(file, { recursive: true });
    writeFileSync(file, Buffer.from([0x7b, 0xff, 0x7d]));
    await expect(ConfigFile.read(file)).rejects.toThrow('not UTF-8');
    expect(existsSync(file)).toBe(true);
  });

  it('is read-only, and stays as it is', async () => {
    writeFileSync(file, '{}');
    chmodSync(file, 0o444);
    const read = await ConfigFile.read(file);
    await expect(read.write('{"a":1}')).rejects.toMatchObject({
      code: 'forbidden',
      message: expect.stringContaining('read-only (mode 0444)'),
    });
    await expect(read.remove()).rejects.toMatchObject({ code: 'forbidden' });
    expect(readdirSync(folder)).toEqual(['mcp.json']);
  });

  it('is a link into a folder that everyone may write to', async () => {
    const shared = path.join(folder, 'shared');
    mkdirSync(shared);
    writeFileSync(path.join(shared, 'x.json'), '{}');
    chmodSync(shared, 0o777);
    symlinkSync('shared/x.json', file);
    await expect(ConfigFile.read(file)).rejects.toMatchObject({ code: 'refused_symlink' });
  });

  it.runIf(process.getuid?.() === 0)('belongs to another user', async () => {
    writeFileSync(file, '{}');
    const { chownSync } = await import('node:fs');
    chownSync(file, 12345, 12345);
    await expect(ConfigFile.read(file)).rejects.toMatchObject({ code: 'forbidden' });
  });
});
