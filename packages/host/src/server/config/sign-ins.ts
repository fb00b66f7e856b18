/** The configuration key for sign-ins: the services that users sign in to for the tools that act for them. */
import { z } from 'zod';
import { address, label, name } from './fields.ts';

const scope = z.string().regex(/^[\x21\x23-\x5B\x5D-\x7E]{1,256}$/, 'must be a scope: printable text without spaces');

/** Most services of one host. */
const MAX_SIGN_INS = 100;

const oauth = z.strictObject({
  kind: z
    .literal('oauth2')
    .describe('The user signs in at the service: OAuth 2.1 with an authorization code and PKCE.'),
  authorizationEndpoint: address.describe('Where the user signs in.'),
  tokenEndpoint: address.describe('Where the host gets tokens. The host calls no other address for this service.'),
  clientId: name.describe('The id of this host at the service.'),
  clientSecret: z
    .strictObject({ secret: label })
    .optional()
    .describe('The secret of this host at the service, as the name of one of the `secrets`.'),
  issuer: address
    .optional()
    .describe('The issuer. If the service names another one on the way back, the host refuses it.'),
  scopes: z
    .array(scope)
    .max(100)
    .default([])
    .describe('Scopes that every sign-in asks for, besides those of the tool.'),
});

const key = z.strictObject({
  kind: z
    .enum(['api-key', 'pat', 'password'])
    .describe('The user types in a key, a personal access token or a password. The client encrypts it for the host.'),
  infoUrl: address.optional().describe('A page that tells the user how to make one.'),
});

export const signInsSchema = z
  .record(label, z.discriminatedUnion('kind', [oauth, key]))
  .refine((services) => Object.keys(services).length <= MAX_SIGN_INS, `has more than ${MAX_SIGN_INS} services`);
