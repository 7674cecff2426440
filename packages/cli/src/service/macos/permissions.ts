import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { lastLine, type Run } from '../exec.js';
import { readText } from '../files.js';
import { SERVICE_LABEL, type ServiceHost } from '../host.js';
import { openEnvironment } from '../launchd/agent.js';
import type { AskResult } from './ask-main.js';

export const MICROPHONE_PANEL = 'System Settings → Privacy & Security → Microphone';
export const SYSTEM_AUDIO_PANEL = 'System Settings → Privacy & Security → Screen & System Audio Recording';
/** macOS's names for the two permissions, as tccutil takes them. */
const SERVICES = ['Microphone', 'AudioCapture'] as const;

/** The user has this long to answer macOS's question, s. */
const ANSWER_S = 60;

/**
 * Forgets macOS's recorded answers. A grant is tied to the old signature, so after an ad hoc signed executable has
 * changed it only gives silence, and macOS does not ask again by itself.
 * @returns what could not be forgotten, in words
 */
export async function resetGrants(run: Run): Promise<string[]> {
  const failures: string[] = [];
  for (const service of SERVICES) {
    const result = await run('tccutil', ['reset', service, SERVICE_LABEL]);
    if (result.code !== 0)
      failures.push(
        `The old ${service} answer could not be cleared (${lastLine(result.stderr) || `tccutil exit code ${result.code}`}); if Ambient stays silent, run \`tccutil reset ${service} ${SERVICE_LABEL}\`.`,
      );
  }
  return failures;
}

/**
 * Brings up macOS's questions now and not in the first meeting. Goes through LaunchServices, because an executable
 * started from a terminal is asked for in the terminal's name.
 * @returns notes for the user
 */
export async function askForPermissions(run: Run, host: ServiceHost, bundle: string): Promise<string[]> {
  const dir = await mkdtemp(path.join(os.tmpdir(), 'ambient-ask-'));
  const answer = path.join(dir, 'answer.json');
  try {
    const script = fileURLToPath(new URL('./ask-main.js', import.meta.url));
    const result = await run(
      'open',
      [
        '-W',
        '-n',
        '-g',
        ...openEnvironment({ PATH: host.path }),
        bundle,
        '--args',
        script,
        answer,
        audioTee(host.script),
        String(ANSWER_S),
      ],
      { timeoutMs: (ANSWER_S + 60) * 1000 },
    );
    if (result.code !== 0)
      return [
        `macOS could not open ${bundle} (${lastLine(result.stderr) || `open exit code ${result.code}`}), so it has not asked for the microphone yet.`,
      ];
    return describeAnswer(await readText(answer));
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

function describeAnswer(text: string | undefined): string[] {
  const answer = parseAnswer(text);
  if (answer === undefined) return [`Ambient could not try the microphone; check ${MICROPHONE_PANEL}.`];
  const microphone: Readonly<Record<AskResult['microphone'], string>> = {
    heard: 'The microphone is allowed and was heard.',
    silent: `The microphone gave only silence. Turn Ambient on in ${MICROPHONE_PANEL}; if it is on already, run \`tccutil reset Microphone ${SERVICE_LABEL}\` and \`ambientctl daemon install\` again.`,
    no_recorder: 'sox was not found, so macOS has not asked for the microphone. Run `brew install sox`, then `ambientctl daemon install`.',
  };
  const system: Readonly<Record<AskResult['system_audio'], string>> = {
    opened: `System audio was opened; if calls stay silent, turn Ambient on in ${SYSTEM_AUDIO_PANEL}.`,
    failed: `System audio could not be opened (macOS 14.2 or later is needed); check ${SYSTEM_AUDIO_PANEL}.`,
    no_recorder: 'The recorder for system audio is not installed; only the room will be recorded.',
  };
  return [microphone[answer.microphone], system[answer.system_audio]];
}

function parseAnswer(text: string | undefined): AskResult | undefined {
  try {
    const value: unknown = JSON.parse(text ?? '');
    if (typeof value !== 'object' || value === null || !('microphone' in value) || !('system_audio' in value)) return undefined;
    const { microphone, system_audio } = value;
    if (microphone !== 'heard' && microphone !== 'silent' && microphone !== 'no_recorder') return undefined;
    if (system_audio !== 'opened' && system_audio !== 'failed' && system_audio !== 'no_recorder') return undefined;
    return { microphone, system_audio };
  } catch {
    return undefined;
  }
}

/** The system audio recorder that comes with the daemon, or `-`. */
function audioTee(script: string): string {
  try {
    return path.join(path.dirname(createRequire(script).resolve('audiotee')), '../bin/audiotee');
  } catch {
    return '-';
  }
}
