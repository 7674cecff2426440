import { once } from 'node:events';
import { lstat, rename, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { until } from './contract/helpers.js';
import { DaemonProcess } from './rig/daemon.js';

let daemon: DaemonProcess;
beforeEach(async () => {
  daemon = new DaemonProcess();
  await daemon.start();
});
afterEach(async () => {
  await daemon.end('SIGTERM');
  daemon.remove();
});

const isThere = (): Promise<boolean> =>
  lstat(daemon.paths.mcpSocket).then(
    (found) => found.isSocket(),
    () => false,
  );

test('MCP is off by default, follows its verbs and its setting, and is as it was after a restart', async () => {
  expect(await isThere()).toBe(false);
  expect(await daemon.control.call('mcp', {})).toEqual({ enabled: false, socket: null, clients: [] });
  expect(await daemon.control.call('mcpEnable', { body: {} })).toEqual({ enabled: true, socket: daemon.paths.mcpSocket });
  expect(await isThere()).toBe(true);
  await daemon.end('SIGTERM');
  expect(await isThere()).toBe(false);
  await daemon.start();
  expect(await isThere()).toBe(true);
  expect(await daemon.control.call('mcpDisable', { body: {} })).toEqual({ enabled: false, socket: null });
  expect(await isThere()).toBe(false);
  await daemon.control.call('setConfig', { body: { key: 'mcp.enabled', value: true } });
  await until(isThere, 'the socket');
  await daemon.control.call('setConfig', { body: { key: 'mcp.enabled', value: null } });
  await until(async () => !(await isThere()), 'no socket');
});

test('enabling makes a socket again whose file is gone or no longer its own', async () => {
  const { mcpSocket } = daemon.paths;
  await daemon.control.call('mcpEnable', { body: {} });
  await rm(mcpSocket);
  expect(await daemon.control.call('mcpEnable', { body: {} })).toEqual({ enabled: true, socket: mcpSocket });
  expect(await isThere()).toBe(true);
  const other = createServer().listen(`${mcpSocket}.other`);
  await once(other, 'listening');
  await rename(`${mcpSocket}.other`, mcpSocket);
  expect(await daemon.control.call('mcp', {})).toMatchObject({ enabled: true, socket: null });
  await daemon.control.call('mcpEnable', { body: {} });
  expect(await daemon.control.call('mcp', {})).toMatchObject({ socket: mcpSocket });
  other.close();
});

test('a daemon with MCP off removes the socket of one that was killed with MCP on', async () => {
  await daemon.control.call('mcpEnable', { body: {} });
  await daemon.end('SIGKILL');
  expect(await isThere()).toBe(true);
  await rm(daemon.paths.config);
  await daemon.start();
  expect(await isThere()).toBe(false);
});
