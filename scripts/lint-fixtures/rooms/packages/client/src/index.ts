import { id } from '@cairn/protocol';
import { createParser } from 'eventsource-parser';
import { host } from '@cairn/host'; // refused
export const client = [id, createParser, host];
