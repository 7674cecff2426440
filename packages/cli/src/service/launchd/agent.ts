import { build, type PlistValue, parse } from 'plist';
import { SERVICE_LABEL } from '../host.js';
import type { Launch } from '../types.js';

/** The values of a launch agent that differ between installations. All paths are absolute. */
export interface AgentValues {
  readonly launch: Launch;
  /** The application bundle. */
  readonly bundle: string;
  /** Its Mach-O main executable, a copy of node. */
  readonly executable: string;
  /** The daemon's entry script. */
  readonly script: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Takes what the daemon prints before its own log is open, and what a crash prints. */
  readonly log: string;
}

/**
 * The launch agent.
 * - `KeepAlive.SuccessfulExit=false`: started again after a crash or an error, never after a clean stop, and not at all
 *   once the daemon's start guard gave up (it then exits 0).
 * - `ExitTimeOut`: the system's default can be as low as 5 s, and a daemon that finishes a recording may need 10 s.
 * - no `LimitLoadToSessionType`: recent macOS refuses such agents with error 5, and an agent loads into the graphical
 *   session anyway.
 * - `ProcessType=Interactive`: background throttling would make recorders miss samples.
 */
export function renderAgent(values: AgentValues): string {
  const { launch, bundle, executable, script, environment, log } = values;
  const daemon = [script, 'run'];
  const agent: { [key: string]: PlistValue } = {
    Label: SERVICE_LABEL,
    ProgramArguments:
      launch === 'direct'
        ? [executable, ...daemon]
        : ['/usr/bin/open', '-W', '-g', ...openEnvironment(environment), '--stdout', log, '--stderr', log, bundle, '--args', ...daemon],
    AssociatedBundleIdentifiers: [SERVICE_LABEL],
    EnvironmentVariables: { ...environment },
    RunAtLoad: true,
    KeepAlive: { SuccessfulExit: false },
    ThrottleInterval: 10,
    ExitTimeOut: 20,
    ProcessType: 'Interactive',
    Umask: 0o077,
    StandardOutPath: log,
    StandardErrorPath: log,
    WorkingDirectory: '/',
  };
  return `${build(agent)}\n`;
}

/** An application started by LaunchServices does not inherit the agent's environment. */
export function openEnvironment(environment: Readonly<Record<string, string>>): string[] {
  return Object.entries(environment).flatMap(([name, value]) => ['--env', `${name}=${value}`]);
}

/** What is read back of an installed agent; undefined when the file is no property list. */
export function parseAgent(
  text: string,
): { readonly launch: Launch; readonly arguments: readonly string[]; readonly home: string | null } | undefined {
  let value: PlistValue;
  try {
    value = parse(text);
  } catch {
    return undefined;
  }
  const args = stringList(member(value, 'ProgramArguments'));
  const home = member(member(value, 'EnvironmentVariables'), 'AMBIENT_HOME');
  return { launch: args[0] === '/usr/bin/open' ? 'open' : 'direct', arguments: args, home: typeof home === 'string' ? home : null };
}

/** A member of a dictionary, or undefined. */
export function member(value: PlistValue | undefined, key: string): PlistValue | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || value instanceof Date || value instanceof Uint8Array)
    return undefined;
  return value[key];
}

function stringList(value: PlistValue | undefined): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}
