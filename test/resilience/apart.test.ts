import { setClock } from './clock.suite.js';
import { fullDisk } from './disk-full.suite.js';
import { longImport } from './long-import.suite.js';

// Each has daemons of its own, and two of the three mostly wait: side by side they take as long as the longest.
longImport();
fullDisk();
setClock();
