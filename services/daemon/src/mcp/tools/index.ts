import type { Toolset } from '@ambient/contract';
import { assistantTools } from './assistant.js';
import { libraryLiveTools } from './library-live.js';
import { libraryReadTools } from './library-read.js';
import { libraryWriteTools } from './library-write.js';
import { sessionTools } from './sessions.js';
import type { Tool } from './tool.js';

/** Every tool, in the order in which `tools/list` gives them. */
export const TOOLS: readonly Tool[] = [...sessionTools, ...assistantTools, ...libraryReadTools, ...libraryLiveTools, ...libraryWriteTools];

export function toolsOf(toolsets: readonly Toolset[]): Tool[] {
  return TOOLS.filter((tool) => toolsets.includes(tool.toolset));
}

export function findTool(name: string, toolsets: readonly Toolset[]): Tool | undefined {
  return TOOLS.find((tool) => tool.name === name && toolsets.includes(tool.toolset));
}
