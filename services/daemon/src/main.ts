import { AmbientError, homePaths, resolveHome } from '@ambient/contract';
import { Daemon } from './daemon.js';
import { ServiceNotifier } from './platform/sd-notify.js';
import { StartGuard } from './platform/start-guard.js';
import { VERSION } from './version.js';

const USAGE = `Usage: ambientd run

Records, transcribes and serves; ends on SIGTERM or Ctrl-C. \`ambientctl daemon start\` runs it in the background.

  --help     show this
  --version  print the version
`;

/** A shut-down that takes longer is cut short, ms: what is captured is on disk already. */
const STOP_LIMIT_MS = 9_500;

async function main(args: readonly string[]): Promise<void> {
  const [command, ...rest] = args;
  if (command === '--help' || command === '-h') return void process.stdout.write(USAGE);
  if (command === '--version') return void process.stdout.write(`${VERSION}\n`);
  if ((command !== undefined && command !== 'run') || rest.length > 0) {
    process.stderr.write(`ambientd: unknown argument ${command === 'run' ? rest[0] : command}\n\n${USAGE}`);
    process.exitCode = 2;
    return;
  }
  await run();
}

async function run(): Promise<void> {
  // Everything the daemon makes is its user's alone.
  process.umask(0o077);
  const service = process.env.AMBIENT_SERVICE;
  const notifier = ServiceNotifier.take(process.env, { onError: (error) => say(`cannot notify the service manager: ${error.message}`) });
  const paths = homePaths(resolveHome(process.env, process.platform), process.getuid?.() ?? 0);

  let stopping = false;
  const stop = (why: string): void => {
    if (stopping) {
      // Every write is an append or a rename: stopping here loses at most what was not yet due on disk.
      process.exit(130);
    }
    stopping = true;
    setTimeout(() => process.exit(0), STOP_LIMIT_MS).unref();
    daemon.logger?.info({ why }, 'stopping');
    void (async () => {
      await notifier.stopping('stopping');
      await daemon.stop();
      await guard?.stop();
      await notifier.stop();
      process.exit(0);
    })();
  };
  // A console file on a full disk must not become an error of its own.
  process.stderr.on('error', () => undefined);
  process.on('SIGTERM', () => stop('SIGTERM'));
  process.on('SIGINT', () => stop('SIGINT'));
  process.on('SIGHUP', () => undefined);
  process.on('uncaughtException', (error) => {
    daemon.logger?.fatal({ err: error }, 'uncaught error');
    say(`internal error: ${error.message}`);
  });
  process.on('unhandledRejection', (error) => daemon.logger?.fatal({ err: error }, 'unhandled rejection'));

  const daemon = new Daemon({
    paths,
    env: process.env,
    onStopRequest: () => setImmediate(() => stop('request')),
    onHomeGone: () => {
      say(`${paths.home} was removed or moved: nothing is recorded any more.`);
      stop('home gone');
    },
  });
  // systemd counts failed starts by itself; launchd would start a broken daemon for ever.
  const guard = service === 'launchd' ? new StartGuard(paths.home) : undefined;
  try {
    if (guard !== undefined && !(await guard.enter())) {
      say('it failed five times in a row and stays down. `ambientctl doctor` says why; `ambientctl daemon start` tries again.');
      return;
    }
    await daemon.start();
  } catch (error) {
    const { message, hint } = error instanceof AmbientError ? error : { message: (error as Error).message, hint: undefined };
    say(hint === undefined ? message : `${message} ${hint}`);
    const held = service !== undefined && error instanceof AmbientError && error.code === 'already_running';
    if (held) {
      // A service manager would start it again at once; another daemon that holds the home is no failure of this one.
      // systemd takes an end before readiness for a failure, whatever the exit code.
      await guard?.stop();
      await notifier.start(message);
      await notifier.stopping(message);
      await notifier.stop();
    }
    process.exitCode = held ? 0 : 1;
    return;
  }
  guard?.ready();
  await notifier.start('ready');
}

function say(text: string): void {
  process.stderr.write(`ambientd: ${text}\n`);
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  say((error as Error).message);
  process.exitCode = 1;
}
