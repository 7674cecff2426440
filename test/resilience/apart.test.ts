import { setClock } from './clock.suite.js';
import { fullDisk } from './disk-full.suite.js';
import { longImport } from './long-import.suite.js';
import { otherVersions } from './upgrade.suite.js';

// Each has daemons of its own, and most of them mostly wait: side by side they take as long as the longest.
longImport();
fullDisk();
setClock();
otherVersions();
