import type { Command } from 'commander';
import { register as completion } from '../completion/commands.js';
import type { CliContext } from '../context.js';
import { register as mcp } from '../mcp/register.js';
import { register as service } from '../service/commands.js';
import { register as tray } from '../service/tray/commands.js';
import { register as approvals } from './approvals.js';
import { register as config } from './config.js';
import { register as control } from './control.js';
import { register as daemon } from './daemon.js';
import { register as deleteSession } from './delete.js';
import { register as devices } from './devices.js';
import { register as doctor } from './doctor.js';
import { register as edit } from './edit.js';
import { register as exportSession } from './export.js';
import { register as follow } from './follow.js';
import { register as help } from './help.js';
import { register as importFiles } from './import.js';
import { register as library } from './library.js';
import { register as logs } from './logs.js';
import { register as overview } from './overview.js';
import { register as search } from './search.js';
import { register as sessions } from './sessions.js';
import { register as show } from './show.js';
import { register as start } from './start.js';
import { register as status } from './status.js';
import { register as strike } from './strike.js';

/** Adds a verb, or a group of verbs, to the program. */
export type Register = (program: Command, context: CliContext) => void;

/** Every verb, in the order of `--help`. A new one is a file that exports `register`, named here. */
export const verbs: readonly Register[] = [
  start,
  control,
  strike,
  status,
  follow,
  sessions,
  show,
  search,
  importFiles,
  exportSession,
  edit,
  deleteSession,
  devices,
  config,
  library,
  daemon,
  service,
  logs,
  tray,
  doctor,
  mcp,
  approvals,
  completion,
  help,
  overview,
];
