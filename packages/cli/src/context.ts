import { AmbientClient } from '@ambient/client';
import { type HomePaths, homePaths, resolveHome } from '@ambient/contract';
import { ensureDaemon } from './daemon/launch.js';
import { type DaemonProgram, installedDaemon } from './daemon/program.js';
import { Printer, type TextStream } from './output/printer.js';

type Env = Readonly<Record<string, string | undefined>>;

/** What a run of ambientctl is given by its process. */
export interface CliIo {
  readonly stdin: NodeJS.ReadableStream & { readonly isTTY?: boolean | undefined };
  readonly stdout: TextStream;
  readonly stderr: TextStream;
  readonly env: Env;
  readonly cwd: string;
  /** The daemon to start; by default the one installed beside this program. */
  readonly daemon?: DaemonProgram;
}

/** Handed to every verb. Reading `paths` or `client` may throw `bad_config`; nothing else touches the system. */
export interface CliContext {
  /** Talks to the daemon, and does not start it. */
  readonly client: AmbientClient;
  readonly paths: HomePaths;
  readonly out: Printer;
  readonly env: Env;
  readonly cwd: string;
  readonly stdin: CliIo['stdin'];
  readonly stdout: TextStream;
  readonly stderr: TextStream;
  /** A person is there to answer: stdin and stderr are terminals and `--json` is not given. */
  readonly interactive: boolean;
  /** How to run the daemon. */
  readonly daemon: DaemonProgram;
  /** The client, with the daemon started first when it is not running. @throws AmbientError when it will not start */
  connect(): Promise<AmbientClient>;
}

export function createContext(io: CliIo, json: boolean): CliContext {
  const { env, cwd, stdin, stdout, stderr } = io;
  let paths: HomePaths | undefined;
  let client: AmbientClient | undefined;
  return {
    env,
    cwd,
    stdin,
    stdout,
    stderr,
    out: new Printer({ json, stdout, stderr, env }),
    interactive: !json && stdin.isTTY === true && stderr.isTTY === true,
    get daemon() {
      return io.daemon ?? installedDaemon();
    },
    get paths() {
      paths ??= homePaths(resolveHome(env, process.platform), process.getuid?.() ?? 0);
      return paths;
    },
    get client() {
      client ??= new AmbientClient(this.paths.controlSocket);
      return client;
    },
    async connect() {
      await ensureDaemon(this);
      return this.client;
    },
  };
}
