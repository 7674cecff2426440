export interface FreshHome {
  readonly home: string;
  readonly env: NodeJS.ProcessEnv;
  ctl(...args: string[]): Promise<string>;
  json(...args: string[]): Promise<unknown>;
  close(): Promise<void>;
}
export function freshHome(settings?: Readonly<Record<string, string>>): FreshHome;
export const speechDir: string;
