/** The credentials of users for other services, as a host lists them. */
import { z } from 'zod';

/** `GET /v1/host/cairn/credentials`: never with a value. */
export const credentialList = z
  .looseObject({
    credentials: z.array(
      z.looseObject({
        credentialRef: z.string(),
        provider: z.string(),
        scopes: z.array(z.string()),
        storedAt: z.iso.datetime(),
        expiresAt: z.iso.datetime().optional(),
      }),
    ),
  })
  .meta({ id: 'CredentialList' });
