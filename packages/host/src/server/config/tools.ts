/** The key of the configuration that says which tools agents may call, how often, and where they may fetch from. */
import { z } from 'zod';
import { toolLinePattern } from '../../agents/allowlist.ts';
import { name, origin } from './fields.ts';

const lines = z.array(
  z
    .string()
    .regex(toolLinePattern, 'must be the id of a tool, such as openwop:time, a family such as openwop:fs.*, or *'),
);

export const toolsSchema = z.strictObject({
  allow: lines
    .optional()
    .describe(
      'The tools that agents may call, if their manifests list them: ids such as `openwop:time`, families such as `openwop:*`. `*` is all of them, and lets a `*` of a manifest count. Left out: every tool that the host offers.',
    ),
  tenants: z.record(name, lines).default({}).describe('Lists that take the place of `allow`, by tenant.'),
  maxCallsPerMinute: z
    .int()
    .min(1)
    .optional()
    .describe('How often the runs of one principal may call one tool in a minute.'),
  http: z
    .strictObject({
      allow: z
        .array(z.union([origin, z.literal('*')], { error: 'must be an origin such as https://api.example.org, or *' }))
        .default([])
        .describe(
          'Origins that `openwop:http.fetch` may call; one that is written here passes also without TLS and in a private network. `*` is every public https address. Empty: there is no such tool.',
        ),
    })
    .prefault({})
    .describe('What agents may fetch.'),
});
