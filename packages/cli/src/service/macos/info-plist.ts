import { build, type PlistValue, parse } from 'plist';
import { SERVICE_LABEL } from '../host.js';
import { member } from '../launchd/agent.js';

/** Name of the main executable in the bundle. */
export const EXECUTABLE_NAME = 'ambientd';

/** What the bundle was built from; kept in its Info.plist, where the signature covers it. */
export interface BuildStamp {
  readonly version: string;
  /** Path of the node executable that was copied. */
  readonly node: string;
  /** Its version, such as `v20.19.0`. */
  readonly nodeVersion: string;
  /** SHA-256 of the copied executable before it was signed, hex. */
  readonly nodeSha256: string;
}

/**
 * Info.plist of the bundle. Both usage descriptions are needed: without the first macOS never asks for the microphone,
 * without the second system audio is silence and nothing says so.
 */
export function renderInfoPlist(stamp: BuildStamp): string {
  return `${build({
    CFBundleInfoDictionaryVersion: '6.0',
    CFBundleIdentifier: SERVICE_LABEL,
    CFBundleName: 'Ambient',
    CFBundleDisplayName: 'Ambient',
    CFBundleExecutable: EXECUTABLE_NAME,
    CFBundlePackageType: 'APPL',
    CFBundleShortVersionString: stamp.version,
    CFBundleVersion: stamp.version,
    LSUIElement: true,
    NSMicrophoneUsageDescription: 'Ambient records what is said in the room, on this Mac, when you start a recording.',
    NSAudioCaptureUsageDescription: 'Ambient records what this Mac plays, such as the other side of a call, when you start a recording.',
    AmbientNode: stamp.node,
    AmbientNodeVersion: stamp.nodeVersion,
    AmbientNodeSHA256: stamp.nodeSha256,
  })}\n`;
}

/** The stamp of an installed bundle; undefined when the file is not one of ours. */
export function parseInfoPlist(text: string): BuildStamp | undefined {
  let value: PlistValue;
  try {
    value = parse(text);
  } catch {
    return undefined;
  }
  const field = (key: string): string => {
    const found = member(value, key);
    return typeof found === 'string' ? found : '';
  };
  if (field('CFBundleIdentifier') !== SERVICE_LABEL) return undefined;
  return {
    version: field('CFBundleVersion'),
    node: field('AmbientNode'),
    nodeVersion: field('AmbientNodeVersion'),
    nodeSha256: field('AmbientNodeSHA256'),
  };
}

/**
 * Entitlements under the hardened runtime: the microphone; V8's generated code; native addons, which are not signed by
 * the same team as the executable that loads them.
 */
export function renderEntitlements(): string {
  return `${build({
    'com.apple.security.device.audio-input': true,
    'com.apple.security.cs.allow-jit': true,
    'com.apple.security.cs.allow-unsigned-executable-memory': true,
    'com.apple.security.cs.disable-library-validation': true,
  })}\n`;
}
