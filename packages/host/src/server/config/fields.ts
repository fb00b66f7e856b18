/** Field types that several configuration keys share: names, addresses, origins, headers, paths. */
import { isIP } from 'node:net';
import { z } from 'zod';

/**
 * Names appear in logs, labels, headers and terminals. Control characters would corrupt those outputs. A lone surrogate
 * would change into another name when written to disk.
 */
export const printable = /^\P{C}*$/u;

export const name = z
  .string()
  .min(1)
  .max(128)
  .regex(printable, 'must be printable text, without control or formatting characters');

/** A name that other keys refer to, e.g. of a secret, a provider or a server. */
export const label = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/, 'must be letters, digits, ".", "_" or "-"');

/** Errors do not quote the value, because a user who confuses `env` with `value` writes the secret here. */
export const variable = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_]{0,127}$/, 'must be the name of an environment variable, not its value');

/** A file or folder. In `cairn.json` it is relative to that file. */
export const path = z.string().min(1).meta({ format: 'path' });

const parsed = (text: string): URL | null => (URL.canParse(text) ? new URL(text) : null);

/** An address that the host calls or is called at. Credentials have separate keys, so addresses can be shown. */
export const address = z
  .string()
  .refine((text) => /^https?:$/.test(parsed(text)?.protocol ?? ''), 'must be an http or https URL')
  .refine((text) => (parsed(text)?.username ?? '') === '' && (parsed(text)?.password ?? '') === '', {
    message: 'must not hold a user name or password',
  })
  .meta({ format: 'uri' });

/** A PostgreSQL database. It may hold a password, so that no error shows it. */
export const database = z
  .string()
  .refine((text) => /^postgres(ql)?:$/.test(parsed(text)?.protocol ?? ''), 'must be a postgres:// URL')
  .refine((text) => (parsed(text)?.pathname ?? '').length > 1, 'must name a database: postgres://user@host/database');

/** An IP address, or a network in CIDR notation. */
export const network = z
  .string()
  .refine((text) => isNetwork(text), { message: 'must be an IP address, or a network such as 10.0.0.0/8' });

function isNetwork(text: string): boolean {
  const match = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text);
  const version = isIP(match?.[1] ?? '');
  return version !== 0 && Number(match?.[2] ?? 0) <= (version === 6 ? 128 : 32);
}

/** Scheme, host and port, exactly as a browser sends it in `Origin`. */
export const origin = z.string().refine((text) => text !== 'null' && parsed(text)?.origin === text, {
  message: 'must be an origin such as https://app.example.org, with nothing after the port',
});

const headerText = z.string().regex(/^[\t\x20-\x7e]*$/);

/** The literal text, or one of the `secrets` by name, perhaps with a text before it: `Bearer `. */
const headerValue = z.union([headerText, z.strictObject({ secret: label, prefix: headerText.max(100).optional() })], {
  error: 'must be printable ASCII text, or { "secret": "<name>", "prefix": "Bearer " }',
});

/** Headers of an outbound request. */
export const headers = z.record(
  z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, 'must be the name of a header'),
  headerValue,
);

/** Environment variables of a process that the host starts. */
export const variables = z.record(variable, headerValue);

export type HeadersInput = z.infer<typeof headers>;

/** The environment variables of the process, or of a test. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Refuses two entries with the same name, because a reference would be ambiguous. */
export function refuseTwins<Key extends string>(
  entries: readonly Readonly<Record<Key, string>>[],
  key: Key,
  context: z.RefinementCtx,
): void {
  const seen = new Set<string>();
  for (const [i, entry] of entries.entries()) {
    if (seen.has(entry[key])) context.addIssue({ code: 'custom', path: [i, key], message: 'is there twice' });
    seen.add(entry[key]);
  }
}
