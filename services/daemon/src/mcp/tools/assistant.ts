import { AmbientError } from '@ambient/contract';
import { z } from 'zod';
import { defineTool, type Tool, type ToolCall } from './tool.js';

export const TONES = ['neutral', 'warm', 'amused', 'excited', 'apologetic', 'concerned'] as const;

const refuse =
  (what: string) =>
  async (_args: unknown, { client: { toolsets } }: ToolCall): Promise<never> => {
    const other = toolsets.includes('sessions') ? 'transcript' : toolsets.includes('library') ? 'live_transcript' : undefined;
    const instead = other === undefined ? '' : ` To follow a recording, poll \`${other}\` instead.`;
    throw new AmbientError('unavailable', `The live assistant is not in this version of Ambient: ${what}.${instead}`);
  };

const Outcome = z.object({ status: z.string(), message: z.string() });

/** Their names and arguments are fixed, so that an agent set up for them is answered honestly until they work. */
export const assistantTools: readonly Tool[] = [
  defineTool({
    name: 'watch_meeting',
    title: 'Watch the meeting',
    description: 'Follow the meeting being recorded as its assistant. Not in this version: the call says so and does nothing.',
    toolset: 'assistant',
    kind: 'act',
    idempotent: true,
    input: z.object({}),
    output: Outcome,
    run: refuse('nothing is being watched'),
  }),
  defineTool({
    name: 'wait_for_transcript',
    title: 'Wait for new lines',
    description: 'Wait until the watched meeting has new lines. Not in this version: the call says so at once.',
    toolset: 'assistant',
    kind: 'live',
    idempotent: true,
    input: z.object({ timeout_s: z.number().min(1).max(120).default(30).describe('Longest wait, seconds') }),
    output: Outcome,
    run: refuse('there is nothing to wait for'),
  }),
  defineTool({
    name: 'speak',
    title: 'Speak in the meeting',
    description: 'Say something aloud in the watched meeting. Not in this version: the call says so and nothing is said.',
    toolset: 'assistant',
    kind: 'act',
    idempotent: false,
    input: z.object({
      text: z.string().min(1).max(600).describe('What to say'),
      tone: z.enum(TONES).default('neutral').describe('How to say it'),
    }),
    output: Outcome,
    run: refuse('nothing was said'),
  }),
  defineTool({
    name: 'stop_watching',
    title: 'Stop watching',
    description: 'Stop following the meeting. Not in this version: the call says so; nothing is being watched.',
    toolset: 'assistant',
    kind: 'act',
    idempotent: true,
    input: z.object({}),
    output: Outcome,
    run: refuse('nothing is being watched'),
  }),
];
