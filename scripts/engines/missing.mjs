/** Why an engine cannot be had here, so that it is skipped. Whatever else is thrown is a failure. */
export class Missing extends Error {}
