import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { AmbientClient } from '@ambient/client';
import { homePaths } from '@ambient/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type PrivatePulse, startPulse } from '../audio/pulse.js';
import { requireTools } from '../support/require-tool.js';
import { Desktop } from './support/desktop.js';
import { Processes, until } from './support/processes.js';
import { TrayMenu } from './support/tray-menu.js';

const at = (file: string): string => fileURLToPath(new URL(`../../${file}`, import.meta.url));
const TOOLS = ['Xvfb', 'dbus-daemon', 'xfce4-panel', 'import', 'pulseaudio', 'pactl', 'paplay', 'parec'];
const [RED, AMBER, VIOLET, LIGHT] = ['#f2453d', '#f9ab00', '#b072f0', '#e8eaed'];

describe.skipIf(!requireTools(TOOLS))('the tray and a real daemon on real sound', () => {
  const processes = new Processes();
  let dir: string;
  let desktop: Desktop;
  let pulse: PrivatePulse;
  let menu: TrayMenu;
  let client: AmbientClient;

  const colour = (hex: string): Promise<true> => until(hex, async () => (await desktop.find(hex)).pixels > 100 && (true as const), 40_000);
  const label = (pattern: RegExp): Promise<string> =>
    until(String(pattern), async () => (await menu.labels()).find((text) => pattern.test(text)), 40_000);

  beforeAll(async () => {
    dir = await mkdtemp(path.join(os.tmpdir(), 'trr-'));
    const home = path.join(dir, 'h');
    client = new AmbientClient(homePaths(home, process.getuid?.() ?? 0).controlSocket);
    desktop = new Desktop(dir);
    await desktop.start();
    pulse = await startPulse();
    menu = new TrayMenu(desktop.busAddress);
    const daemonEnv = { ...process.env, ...pulse.env, HOME: dir, AMBIENT_HOME: home };
    processes.start(process.execPath, [at('services/daemon/bin/ambientd.js'), 'run'], { env: daemonEnv, stdio: 'ignore' });
    processes.start(process.execPath, [at('packages/tray/bin/ambient-tray.js'), '--theme', 'dark'], {
      env: { ...desktop.env, AMBIENT_HOME: home },
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    await until('the tray item', () => menu.owner());
  });

  afterAll(async () => {
    menu?.close();
    await processes.stopAll();
    await pulse?.stop();
    await desktop?.stop();
    await rm(dir, { recursive: true, force: true });
  });

  it('is started and stopped with clicks, red with moving levels while people speak', async () => {
    await label(/^Not recording$/);
    const voices = [
      pulse.playing(at('test/fixtures/conversation/room.wav'), 'mic'),
      pulse.playing(at('test/fixtures/conversation/call.wav'), 'speakers'),
    ];
    await menu.click('Start recording');
    await colour(RED);
    const status = await client.call('status', {});
    expect(status.live?.tracks).toEqual(['room', 'call']);
    await label(/^Recording (?!0:00)\d+:\d\d$/);
    await label(/^Room {2}▮+▯* −\d+ dB$/);
    await label(/^Call {2}▮+▯* −\d+ dB$/);
    for (const voice of voices) voice.stop();
    await menu.click('Stop recording');
    await label(/^Start recording$/);
    const { sessions } = await client.call('sessions', { query: {} });
    expect(sessions).toHaveLength(1);
    const audio = path.join(sessions[0]?.dir ?? '', 'audio');
    // More than a second of each track, at 32 bytes a millisecond.
    for (const track of ['room', 'call']) expect((await stat(path.join(audio, `${track}.wav`))).size).toBeGreaterThan(44 + 32_000);
    await label(/^Last: .*\(0:\d\d\)/);
    await colour(LIGHT);
    expect(await readFile(path.join(sessions[0]?.dir ?? '', 'session.json'), 'utf8')).toContain('"origin"');
  });

  it('turns violet while an agent wants to delete the session, and Deny keeps it', async () => {
    const { sessions } = await client.call('sessions', { query: {} });
    const id = sessions[0]?.id ?? '';
    await client.call('mcpEnable', { body: {} });
    const { token } = await client.call('mcpCreate', {
      body: { name: 'Agent', access: 'enabled', toolsets: ['sessions', 'assistant', 'library'] },
    });
    const shim = processes.start(process.execPath, [at('packages/mcp-shim/bin/ambient-mcp.js')], {
      env: { PATH: process.env.PATH, HOME: dir, AMBIENT_HOME: path.join(dir, 'h'), AMBIENT_MCP_TOKEN: token },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    let answers = '';
    shim.stdout?.setEncoding('utf8').on('data', (text: string) => {
      answers += text;
    });
    const send = (message: object): void => void shim.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
    const clientInfo = { name: 'test', version: '1' };
    send({ id: 1, method: 'initialize', params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo } });
    await until('the MCP server', () => answers.includes('"id":1') && (true as const));
    send({ method: 'notifications/initialized' });
    send({ id: 2, method: 'tools/call', params: { name: 'delete_session', arguments: { sessionId: id } } });
    await colour(VIOLET);
    await label(/^Agent wants to: /);
    await menu.click('Agent wants to: ', 'Deny');
    await colour(LIGHT);
    await until('the refusal', () => answers.includes('"id":2') && (true as const));
    expect(answers).toContain('"isError":true');
    expect((await client.call('sessions', { query: {} })).sessions.map((one) => one.id)).toContain(id);
  });

  it('turns amber when the output it records is unplugged', async () => {
    await menu.click('Start recording');
    await label(/^Recording/);
    await pulse.removeSink('speakers');
    await colour(AMBER);
    await label(/^Warning: /);
    await menu.click('Stop recording');
    await label(/^Start recording$/);
  });
});
