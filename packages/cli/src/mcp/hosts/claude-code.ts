import { COMMON_OWN, commonLaunch, ENTRY, type Host, shell } from './host.js';

export const claudeCode: Host = {
  id: 'claude-code',
  title: 'Claude Code',
  format: 'json',
  files: ({ home, env }) => [env.CLAUDE_CONFIG_DIR?.startsWith('/') ? `${env.CLAUDE_CONFIG_DIR}/.claude.json` : `${home}/.claude.json`],
  path: () => ['mcpServers', ENTRY],
  entry: ({ command, args, env }) => ({ type: 'stdio', command, args, env }),
  launch: commonLaunch,
  own: COMMON_OWN,
  byHand: ({ command, args, env }) => {
    // `--env` takes every word up to the next option: the name stands before it.
    const variables = Object.entries(env).flatMap(([name, value]) => ['--env', `${name}=${value}`]);
    return [shell(['claude', 'mcp', 'add', ENTRY, '--scope', 'user', ...variables, '--', command, ...args])];
  },
  next: 'Start a new Claude Code session; `/mcp` lists `ambient`.',
};
