import { COMMON_OWN, commonLaunch, ENTRY, type Host, shell } from './host.js';

export const codex: Host = {
  id: 'codex',
  title: 'Codex',
  format: 'toml',
  files: ({ home, env }) => [env.CODEX_HOME?.startsWith('/') ? `${env.CODEX_HOME}/config.toml` : `${home}/.codex/config.toml`],
  path: () => ['mcp_servers', ENTRY],
  // The shim says after 10 s what is missing, and a long poll lasts up to 120 s: both must be allowed to come through.
  entry: ({ command, args, env }) => ({
    command,
    args,
    ...(Object.keys(env).length > 0 ? { env } : {}),
    startup_timeout_sec: 20,
    tool_timeout_sec: 180,
  }),
  launch: commonLaunch,
  own: COMMON_OWN,
  byHand: ({ command, args, env }) => {
    const variables = Object.entries(env).flatMap(([name, value]) => ['--env', `${name}=${value}`]);
    return [shell(['codex', 'mcp', 'add', ENTRY, ...variables, '--', command, ...args])];
  },
  next: 'Start a new Codex session (or restart the ChatGPT desktop app); `/mcp` lists `ambient`.',
};
