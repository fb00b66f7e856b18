/** Parameters of push notifications in both versions, as one shape, and configurations as each version shows them. */
import type { JsonObject } from '@cairn/protocol';
import { z } from 'zod';
import { idParam, optionalIdParam, optionalTextParam, parsed } from '../params.ts';
import type { A2aVersion } from '../versions.ts';
import type { PushConfig, PushParams } from './config.ts';

/** Longest address, token and credentials. */
const MAX_URL = 2_000;
const MAX_SECRET = 4_000;

/** They become values of headers. */
const secret = optionalTextParam(
  z
    .string()
    .max(MAX_SECRET)
    .regex(/^[\x20-\x7e]*$/, 'must be printable ASCII'),
);

const scheme = z.string().regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,40}$/, 'must be the name of an HTTP scheme');

const fields = { id: optionalIdParam, url: z.string().min(1).max(MAX_URL), token: secret };

const v1Push = z
  .object({ ...fields, authentication: z.object({ scheme, credentials: secret }).nullish() })
  .transform(({ authentication, ...config }): PushParams => ({ ...config, ...proofOf(authentication) }));

const v03Push = z
  .object({ ...fields, authentication: z.object({ schemes: z.array(scheme).min(1), credentials: secret }).nullish() })
  .transform(({ authentication, ...config }): PushParams => {
    const first = authentication?.schemes[0];
    return {
      ...config,
      ...proofOf(first === undefined ? null : { scheme: first, credentials: authentication?.credentials }),
    };
  });

/** A scheme without credentials proves nothing. */
const proofOf = (
  given: { readonly scheme: string; readonly credentials: string | undefined } | null | undefined,
): Pick<PushParams, 'authentication'> => {
  const credentials = given?.credentials;
  return {
    authentication: given == null || credentials === undefined ? undefined : { scheme: given.scheme, credentials },
  };
};

/** The configuration that a message brings along. */
export const v1PushInMessage = v1Push.nullish();
export const v03PushInMessage = v03Push.nullish();

const v1Set = z.intersection(z.object({ taskId: idParam }), v1Push);
const v03Set = z.object({ taskId: idParam, pushNotificationConfig: v03Push });

export interface SetParams {
  readonly taskId: string;
  readonly params: PushParams;
}

export function setParamsOf(version: A2aVersion, given: JsonObject): SetParams {
  if (version === '1.0') {
    const { taskId, ...params } = parsed(v1Set, given);
    return { taskId, params };
  }
  const { taskId, pushNotificationConfig: params } = parsed(v03Set, given);
  return { taskId, params };
}

const v1Named = z.object({ taskId: idParam, id: optionalIdParam });
const v03Named = z.object({ id: idParam, pushNotificationConfigId: optionalIdParam });

export interface NamedParams {
  readonly taskId: string;
  readonly configId: string | undefined;
}

export function namedParamsOf(version: A2aVersion, given: JsonObject): NamedParams {
  if (version === '1.0') {
    const { taskId, id } = parsed(v1Named, given);
    return { taskId, configId: id };
  }
  const { id, pushNotificationConfigId } = parsed(v03Named, given);
  return { taskId: id, configId: pushNotificationConfigId };
}

/** Neither the token nor the credentials are shown. */
export function shownConfig(version: A2aVersion, { taskId, configId: id, url, scheme: named }: PushConfig): object {
  if (version === '1.0') return { taskId, id, url, ...(named !== null && { authentication: { scheme: named } }) };
  const authentication = named !== null && { authentication: { schemes: [named] } };
  return { taskId, pushNotificationConfig: { id, url, ...authentication } };
}
