/** The reason why an engine is not available here, so that it is skipped. Any other error is a failure. */
export class Missing extends Error {}
