import { z } from 'zod';

/** Names a device to a recording program, which takes what begins with `-` for an option and with `|` for a command. */
export const DeviceName = z
  .string()
  .min(1)
  .max(500)
  .refine(
    (text) => !/^[-|]|\p{Cc}/u.test(text),
    'begins with "-" or "|" or holds a control character, as no device does; `ambientctl devices` lists them',
  );

export const Device = z.object({
  /** What `--device` takes. */
  id: z.string(),
  name: z.string(),
  kind: z.enum(['mic', 'system']),
  default: z.boolean(),
});
export type Device = z.infer<typeof Device>;

export const DeviceList = z.object({
  devices: z.array(Device),
  /** Recording programs found, in the order they are tried. */
  recorders: z.array(z.object({ name: z.string(), path: z.string().nullable() })),
});
export type DeviceList = z.infer<typeof DeviceList>;
