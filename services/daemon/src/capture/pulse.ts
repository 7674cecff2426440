import { output } from './programs.js';

/** The PulseAudio server's (or PipeWire's) objects, as `pactl` lists them. */
export interface PulseSource {
  readonly index: number;
  readonly name: string;
  readonly description: string;
  /** Sink whose output this source repeats; null for a true input. */
  readonly monitorOf: string | null;
  /** Muted, or turned down to nothing. */
  readonly muted: boolean;
}
export interface PulseSink {
  readonly index: number;
  readonly name: string;
  readonly description: string;
}
export interface PulseDefaults {
  readonly sink: string | null;
  readonly source: string | null;
}
/** A program that plays. */
export interface SinkInput {
  readonly sink: number;
  readonly corked: boolean;
  readonly muted: boolean;
  readonly application: string;
}

/** Names of the default devices, or null when there is no server or no pactl. */
export async function pulseDefaults(): Promise<PulseDefaults | null> {
  const text = await pactl('info');
  if (text === null) return null;
  const field = (name: string): string | null => new RegExp(`^${name}: (.+)$`, 'm').exec(text)?.[1]?.trim() ?? null;
  return { sink: named(field('Default Sink')), source: named(field('Default Source')) };
}

export async function pulseSources(): Promise<readonly PulseSource[]> {
  return blocks(await pactl('list', 'sources')).map((block) => ({
    index: block.index,
    name: block.field('Name'),
    description: block.field('Description'),
    monitorOf: named(block.field('Monitor of Sink')),
    muted: block.field('Mute') === 'yes' || isTurnedDown(block.field('Volume')),
  }));
}

export async function pulseSinks(): Promise<readonly PulseSink[]> {
  return blocks(await pactl('list', 'sinks')).map((block) => ({
    index: block.index,
    name: block.field('Name'),
    description: block.field('Description'),
  }));
}

/** Index of the source that process `pid` records from, or null when it records from none. */
export async function sourceOfProcess(pid: number): Promise<number | null> {
  const own = blocks(await pactl('list', 'source-outputs')).find((block) => block.property('application.process.id') === String(pid));
  return own === undefined ? null : Number(own.field('Source'));
}

export async function pulseSinkInputs(): Promise<readonly SinkInput[]> {
  return blocks(await pactl('list', 'sink-inputs')).map((block) => ({
    sink: Number(block.field('Sink')),
    corked: block.field('Corked') === 'yes',
    muted: block.field('Mute') === 'yes',
    application: block.property('application.name') || 'a program',
  }));
}

/** `front-left: 0 /   0% / -inf dB,   front-right: …`: every channel at nothing. */
function isTurnedDown(volume: string): boolean {
  const percents = [...volume.matchAll(/(\d+)%/g)];
  return percents.length > 0 && percents.every(([, percent]) => percent === '0');
}

interface Block {
  readonly index: number;
  field(name: string): string;
  property(name: string): string;
}

/** Splits a `pactl list` into its objects: each begins `Kind #index` in the first column. */
function blocks(text: string | null): Block[] {
  if (text === null) return [];
  return text
    .split(/^(?=\S[^\n]*#\d+$)/m)
    .filter((part) => /^\S[^\n]*#\d+\n/.test(part))
    .map((part) => ({
      index: Number(/#(\d+)\n/.exec(part)?.[1]),
      field: (name) => new RegExp(`^\\t${name}: (.*)$`, 'm').exec(part)?.[1]?.trim() ?? '',
      property: (name) => new RegExp(`^\\t\\t${name.replaceAll('.', '\\.')} = "(.*)"$`, 'm').exec(part)?.[1] ?? '',
    }));
}

async function pactl(...args: string[]): Promise<string | null> {
  try {
    return await output('pactl', args);
  } catch {
    return null;
  }
}

function named(value: string | null): string | null {
  // PipeWire answers `@DEFAULT_SINK@` when there is none.
  return value === null || value === '' || value === 'n/a' || value === '(null)' || value.startsWith('@') ? null : value;
}
