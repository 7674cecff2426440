import { claudeCode } from './claude-code.js';
import { claudeDesktop } from './claude-desktop.js';
import { codex } from './codex.js';
import { cursor } from './cursor.js';
import { gemini } from './gemini.js';
import type { Host } from './host.js';
import { opencode } from './opencode.js';
import { vscode } from './vscode.js';
import { zed } from './zed.js';

/** Every host that `mcp connect` knows, in the order of its help. */
export const HOSTS: readonly Host[] = [claudeDesktop, claudeCode, cursor, vscode, codex, gemini, zed, opencode];
