//! Functions on IPv4 and IPv6 address blocks.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use formwork_value::{Type, Value};

use super::{Args, Builtin, CallError};

type FunctionResult = Result<Value, CallError>;

pub(super) fn builtins() -> Vec<Builtin> {
    vec![
        Builtin::new("cidrhost", cidr_host)
            .with_param("prefix", Type::String)
            .with_param("hostnum", Type::Number)
            .with_return_type(Type::String)
            .described_as(
                "Returns the address of one host in a network.",
                [
                    "The network, as in `10.12.0.0/16`.",
                    "Number of the host; a negative one counts from the end.",
                ],
            )
            .with_example(r#"cidrhost("10.12.112.0/20", 16)"#, r#""10.12.112.16""#)
            .with_example(r#"cidrhost("10.12.112.0/20", -1)"#, r#""10.12.127.255""#),
        Builtin::new("cidrnetmask", cidr_netmask)
            .with_param("prefix", Type::String)
            .with_return_type(Type::String)
            .described_as(
                "Returns the netmask of an IPv4 network in dotted decimal form.",
                ["The network, as in `10.12.0.0/16`."],
            )
            .with_example(r#"cidrnetmask("172.16.0.0/12")"#, r#""255.240.0.0""#),
        Builtin::new("cidrsubnet", cidr_subnet)
            .with_param("prefix", Type::String)
            .with_param("newbits", Type::Number)
            .with_param("netnum", Type::Number)
            .with_return_type(Type::String)
            .described_as(
                "Returns one of the networks of equal size within a network.",
                [
                    "The network, as in `10.12.0.0/16`.",
                    "Number of bits to add to the prefix.",
                    "Number of the network, from 0.",
                ],
            )
            .with_example(r#"cidrsubnet("172.16.0.0/12", 4, 2)"#, r#""172.18.0.0/16""#),
        Builtin::new("cidrsubnets", cidr_subnets)
            .with_param("prefix", Type::String)
            .with_variadic("newbits", Type::Number)
            .with_return_type(Type::list(Type::String))
            .described_as(
                "Returns networks of given sizes within a network, one after the other.",
                [
                    "The network, as in `10.12.0.0/16`.",
                    "Number of bits to add to the prefix, for each network.",
                ],
            )
            .with_example(
                r#"cidrsubnets("10.1.0.0/16", 4, 8)"#,
                "tolist([\n  \"10.1.0.0/20\",\n  \"10.1.16.0/24\",\n])",
            ),
    ]
}

/// A block of addresses: the address as a number, with the bits after the prefix cleared.
struct CidrBlock {
    start: u128,
    /// Address width in bits: 32 or 128.
    width: u32,
    /// Prefix length in bits.
    prefix: u32,
}

impl CidrBlock {
    fn parse(text: &str) -> Result<Self, CallError> {
        let refused = || {
            CallError::new(format!(
                "invalid CIDR expression: invalid CIDR address: {text}; one looks like \"10.0.0.0/16\" or \"fd00::/48\""
            ))
        };
        let (addr, prefix) = text.split_once('/').ok_or_else(refused)?;
        let (addr, width) = match parse_ipv4(addr) {
            Some(addr) => (u128::from(u32::from(addr)), 32),
            None => (u128::from(addr.parse::<Ipv6Addr>().map_err(|_| refused())?), 128),
        };
        // `parse` would accept a leading plus.
        let digits = prefix.bytes().all(|byte| byte.is_ascii_digit());
        let prefix: u32 = prefix.parse().map_err(|_| refused())?;
        if !digits || prefix > width {
            return Err(refused());
        }
        // As in Terraform, any address within the network denotes the network.
        Ok(Self { start: addr & !low_bits_mask(width - prefix), width, prefix })
    }

    /// Number of bits left for hosts.
    fn host_bits(&self) -> u32 {
        self.width - self.prefix
    }

    fn ip_addr_from_number(&self, number: u128) -> IpAddr {
        if self.width == 32 {
            IpAddr::V4(Ipv4Addr::from(
                u32::try_from(number & low_bits_mask(32)).unwrap_or(u32::MAX),
            ))
        } else {
            IpAddr::V6(Ipv6Addr::from(number))
        }
    }
}

/// Reads four decimal bytes. Zeros before a byte do not change its meaning here.
fn parse_ipv4(text: &str) -> Option<Ipv4Addr> {
    let mut bytes = [0_u8; 4];
    let mut parts = text.split('.');
    for byte in &mut bytes {
        let part = parts.next()?;
        if part.is_empty() || !part.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        *byte = part.parse().ok()?;
    }
    parts.next().is_none().then(|| Ipv4Addr::from(bytes))
}

/// Returns a number with the lowest `n` bits set.
fn low_bits_mask(n: u32) -> u128 {
    // A shift by 128 bits would overflow. The result has all bits set.
    1_u128.checked_shl(n).map_or(u128::MAX, |bit| bit - 1)
}

/// A whole number of up to 128 bits, and whether it is negative.
fn integer_argument(args: &Args<'_>, at: usize) -> Result<(u128, bool), CallError> {
    let number = args.number(at)?;
    if !number.is_integer() {
        return Err(CallError::new(format!(
            "argument {} must be a whole number, not {number}",
            at + 1
        )));
    }
    // The text of a number has no exponent, so it is parsed whole.
    let size =
        number.abs().to_string().parse().map_err(|_| {
            CallError::new(format!("argument {} is larger than any address", at + 1))
        })?;
    // Minus zero counts as zero: callers subtract one from the size of a negative number.
    Ok((size, size > 0 && number.is_negative()))
}

fn cidr_host(args: &Args<'_>) -> FunctionResult {
    let block = CidrBlock::parse(args.text(0)?)?;
    let (number, negative) = integer_argument(args, 1)?;
    let most = low_bits_mask(block.host_bits());
    // Negative numbers count from the end of the block.
    let offset = if negative { most.checked_sub(number - 1) } else { Some(number) };
    let offset = offset.filter(|offset| *offset <= most).ok_or_else(|| {
        let sign = if negative { "-" } else { "" };
        CallError::new(format!(
            "prefix of {} does not accommodate a host numbered {sign}{number}",
            block.prefix
        ))
    })?;
    args.string_result(block.ip_addr_from_number(block.start | offset).to_string())
}

fn cidr_netmask(args: &Args<'_>) -> FunctionResult {
    let text = args.text(0)?;
    let block = CidrBlock::parse(text)?;
    if block.width != 32 {
        return Err(CallError::new(format!("IPv6 addresses cannot have a netmask: {text}")));
    }
    args.string_result(block.ip_addr_from_number(!low_bits_mask(block.host_bits())).to_string())
}

fn cidr_subnet(args: &Args<'_>) -> FunctionResult {
    let block = CidrBlock::parse(args.text(0)?)?;
    let (new_bits, (number, negative)) = (args.integer(1)?, integer_argument(args, 2)?);
    let prefix = u32::try_from(i64::from(block.prefix).saturating_add(new_bits))
        .ok()
        .filter(|prefix| *prefix <= block.width)
        .ok_or_else(|| {
            CallError::new(format!(
                "insufficient address space to extend prefix of {} by {new_bits}: addresses have {} bits",
                block.prefix, block.width
            ))
        })?;
    let most = if new_bits < 0 { u128::MAX } else { low_bits_mask(prefix - block.prefix) };
    if negative || number > most {
        let sign = if negative { "-" } else { "" };
        return Err(CallError::new(format!(
            "prefix extension of {new_bits} does not accommodate a subnet numbered {sign}{number}"
        )));
    }
    // A prefix of no bits would need a shift by the whole width, which overflows.
    let start = block.start | number.checked_shl(block.width - prefix).unwrap_or(0);
    args.string_result(format!("{}/{prefix}", block.ip_addr_from_number(start)))
}

fn cidr_subnets(args: &Args<'_>) -> FunctionResult {
    let blamed = |at: usize| move |error: CallError| CallError { argument: Some(at), ..error };
    let block = CidrBlock::parse(args.text(0)?).map_err(blamed(0))?;
    let end = block.start | low_bits_mask(block.host_bits());
    // The first address that is not allocated, or `None` if the last one is.
    let mut next = Some(block.start);
    let mut list = Vec::new();
    for at in 1..args.values.len() {
        let new_bits = args.integer(at).map_err(blamed(at))?;
        let refused = |reason: String| CallError::for_argument(at, reason);
        if new_bits < 1 {
            return Err(refused("must extend prefix by at least one bit".into()));
        }
        // Terraform has the same limit for both versions.
        if new_bits > 32 {
            return Err(refused("may not extend prefix by more than 32 bits".into()));
        }
        let prefix = block.prefix + u32::try_from(new_bits).unwrap_or(u32::MAX);
        if prefix > block.width {
            let version = if block.width == 32 { "IPv4" } else { "IPv6" };
            return Err(refused(format!(
                "would extend prefix to {prefix} bits, which is too long for an {version} address"
            )));
        }
        let rest = low_bits_mask(block.width - prefix);
        // A block starts at a multiple of its size, so the next free address is rounded up.
        let start = next
            .and_then(|next| next.checked_add(rest))
            .map(|next| next & !rest)
            .filter(|start| *start <= end)
            .ok_or_else(|| refused(format!("no room is left for a prefix of {prefix} bits")))?;
        list.push(Value::string(format!("{}/{prefix}", block.ip_addr_from_number(start))));
        next = (start | rest).checked_add(1);
    }
    Ok(Value::list(Type::String, list))
}
