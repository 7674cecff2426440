import { decode } from '@toon-format/toon';
import { expect } from 'vitest';
import type { McpTestClient, ToolReply } from '../rig/client.js';

export interface TranscriptRow {
  timestamp: string;
  source: string;
  status: string;
  segment: number | null;
  confidence: number | null;
  duration: number | null;
  language: string | null;
  text: string;
}

/** A row of the sessions page’s `sessions`. */
export interface SessionRow {
  dir: string;
  duration_s: number | null;
  error: string | null;
  id: string;
  live: boolean;
  name: string | null;
  started_at: string | null;
  transcribed: boolean;
  transcribing: boolean;
}

export interface SessionTranscript {
  lines: { end_ms: number; speaker: string | null; start_ms: number; text: string; track: string }[];
  next: number;
  session: string;
  state: string;
}

export interface SessionStatus {
  awaiting_transcript: number;
  live: { id: string } | null;
  sessions: number;
}

/** A reply of `read_transcript`. */
export interface Reading {
  transcript: string;
  returnedCount: number;
  totalCount: number;
  hasMore: boolean;
  nextSinceSegment: number;
  missing?: unknown[];
}

/** The reply of a tool that must succeed, as parsed JSON. */
export async function ok<T = Record<string, unknown>>(client: McpTestClient, tool: string, args: Record<string, unknown> = {}): Promise<T> {
  const reply = await client.call(tool, args);
  expect(reply.text).not.toBe('');
  expect({ tool, isError: reply.isError, text: reply.isError ? reply.text : '' }).toEqual({ tool, isError: false, text: '' });
  return JSON.parse(reply.text) as T;
}

/** The text of a tool that must fail. */
export async function refused(client: McpTestClient, tool: string, args: Record<string, unknown> = {}): Promise<string> {
  const reply = await client.call(tool, args);
  expect(reply.isError).toBe(true);
  expect(reply.content).toEqual([{ type: 'text', text: reply.text }]);
  return reply.text;
}

/** Checks that a reply's text block holds the same object as its structured content. */
export function expectTwins(reply: ToolReply): void {
  expect(reply.isError).toBe(false);
  expect(JSON.parse(reply.text)).toEqual(reply.structured);
}

/** Keys of every object in `text` stand in sorted order, and the text is one compact line. */
export function expectCompactSorted(text: string): void {
  expect(text).not.toContain('\n');
  expect(text).toBe(JSON.stringify(JSON.parse(text)));
  const check = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    if (!Array.isArray(value)) expect(Object.keys(value)).toEqual(Object.keys(value).sort());
    for (const inner of Object.values(value)) check(inner);
  };
  check(JSON.parse(text));
}

/** Rows of a `read_transcript` document. */
export function documentRows(toon: string): TranscriptRow[] {
  return (decode(toon) as unknown as { transcript: TranscriptRow[] }).transcript;
}

/** Rows of a `live_transcript` text. */
export function liveRows(text: string, schema: string): TranscriptRow[] {
  if (text === '') return [];
  const lines = text.split('\n');
  const header = schema.replace('{', `[${lines.length}]{`);
  return documentRows(`${header}:\n${lines.map((line) => `  ${line}`).join('\n')}`);
}

/** Polls until `condition` holds. */
export async function until(condition: () => Promise<boolean> | boolean, what: string, timeoutMs = 20_000): Promise<void> {
  const end = performance.now() + timeoutMs;
  while (!(await condition())) {
    if (performance.now() > end) throw new Error(`never came: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
