import { COMMON_OWN, commonLaunch, ENTRY, type Host } from './host.js';

export const gemini: Host = {
  id: 'gemini',
  title: 'Gemini CLI',
  format: 'json',
  files: ({ home }) => [`${home}/.gemini/settings.json`],
  path: () => ['mcpServers', ENTRY],
  // A long poll lasts up to 120 s.
  entry: ({ command, args, env }) => ({ command, args, env, timeout: 180_000 }),
  launch: commonLaunch,
  own: COMMON_OWN,
  next: 'Start Gemini CLI again; `/mcp` lists `ambient`.',
};
