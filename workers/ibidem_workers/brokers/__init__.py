"""Brokers: Kombu transports over a folder and over Redis, leases, and RabbitMQ's errors."""
