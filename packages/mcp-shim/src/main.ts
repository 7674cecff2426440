import { type HomePaths, homePaths, resolveHome } from '@ambient/contract/paths';
import { Bridge } from './bridge.js';
import { credentialOf, NO_CREDENTIAL } from './credential.js';
import { Link } from './link.js';
import { type Options, parseArgs, USAGE } from './options.js';
import { Output } from './output.js';
import { Service } from './service.js';
import { VERSION } from './version.js';

/** Standard output belongs to JSON-RPC; everything else goes here. */
function log(message: string): void {
  process.stderr.write(`ambient-mcp: ${message}\n`);
}

function usageError(text: string): never {
  log(text);
  process.exit(2);
}

function locate(): HomePaths {
  try {
    return homePaths(resolveHome(process.env, process.platform), process.getuid?.() ?? 0);
  } catch (error) {
    return usageError(error instanceof Error ? error.message : 'The home cannot be found.');
  }
}

function run(options: Options): void {
  const paths = locate();
  if (process.stdin.isTTY && options.profile === undefined && !process.env.AMBIENT_MCP_TOKEN)
    usageError(`${NO_CREDENTIAL.message} ${NO_CREDENTIAL.hint}\n\n${USAGE}`);
  const credential = credentialOf(options.profile, process.env, paths);
  const bridge = new Bridge({
    link: (events) => new Link(paths, credential, events),
    output: (onPressure) => new Output(process.stdout, onPressure),
    input: process.stdin,
    service: new Service(paths, process.env, log),
    waitMs: options.waitMs,
    log,
    onDone: () => process.exit(0),
  });
  // A host that is gone reads no farewell.
  process.stdout.on('error', () => process.exit(0));
  process.stderr.on('error', () => undefined);
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => process.exit(0));
  bridge.start();
}

const parsed = parseArgs(process.argv.slice(2));
switch (parsed.kind) {
  case 'help':
    process.stdout.write(USAGE);
    break;
  case 'version':
    process.stdout.write(`${VERSION}\n`);
    break;
  case 'refused':
    usageError(`${parsed.problem.message} ${parsed.problem.hint}`);
    break;
  case 'run':
    run(parsed.options);
}
