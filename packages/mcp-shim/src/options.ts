import type { Problem } from './problem.js';

/** How long a request waits for a daemon before it is answered with what to run, ms. */
export const WAIT_MS = 10_000;

export interface Options {
  readonly profile: string | undefined;
  readonly waitMs: number;
}

export type Parsed =
  | { readonly kind: 'run'; readonly options: Options }
  | { readonly kind: 'help' }
  | { readonly kind: 'version' }
  | { readonly kind: 'refused'; readonly problem: Problem };

export const USAGE = `Usage: ambient-mcp [--profile ID]

Connects an MCP host (Claude, Cursor, VS Code, Codex …) over stdio to Ambient.
A host starts it; \`ambientctl mcp connect HOST\` sets that up.

Options:
  --profile ID   use the credential that \`ambientctl mcp connect\` stored under this id
  --version      print the version
  --help         print this text

Environment:
  AMBIENT_MCP_TOKEN   a token from \`ambientctl mcp token create\`, instead of --profile
  AMBIENT_HOME        the folder that holds everything, when it is not the default one
`;

/** A profile id is one plain file name: it names a credential file. */
const PROFILE_ID = /^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/;

/** Reads the command line. Values are never echoed: one of them may be a secret in the wrong place. */
export function parseArgs(args: readonly string[]): Parsed {
  let profile: string | undefined;
  let waitMs = WAIT_MS;
  for (let i = 0; i < args.length; i++) {
    const [name = '', inline] = split(args[i] ?? '');
    const value = (): string | undefined => inline ?? args[++i];
    switch (name) {
      case '--help':
      case '-h':
        return { kind: 'help' };
      case '--version':
      case '-V':
        return { kind: 'version' };
      case '--profile':
        profile = value();
        if (profile === undefined || !PROFILE_ID.test(profile))
          return refused('--profile needs an id.', '`ambientctl mcp list` shows the ids.');
        break;
      // For tests of what happens after the wait; not in the help.
      case '--wait-ms':
        waitMs = Number(value());
        if (!Number.isInteger(waitMs) || waitMs < 0) return refused('--wait-ms needs a number of milliseconds.', 'Leave it out.');
        break;
      case '--token':
        return refused(
          'A token on the command line is refused: every program on this machine can read the command line of another.',
          'Put it into the environment variable AMBIENT_MCP_TOKEN, or use --profile ID.',
        );
      default:
        return refused(
          name.startsWith('-') ? `Unknown option ${name}.` : 'This program takes no arguments besides its options.',
          'Run `ambient-mcp --help`.',
        );
    }
  }
  return { kind: 'run', options: { profile, waitMs } };
}

function split(arg: string): [string, string | undefined] {
  const at = arg.indexOf('=');
  return arg.startsWith('--') && at !== -1 ? [arg.slice(0, at), arg.slice(at + 1)] : [arg, undefined];
}

function refused(message: string, hint: string): Parsed {
  return { kind: 'refused', problem: { code: 'usage', message, hint } };
}
