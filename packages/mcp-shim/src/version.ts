/** Version of this package; a test holds it against package.json, which is not read at start-up. */
export const VERSION = '0.1.0';
